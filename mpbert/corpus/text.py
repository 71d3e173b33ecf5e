"""Text of papers: clean characters, sentences, words and citation markers, one definition for all.

* :func:`cut_markers` removes the markers that a reader found and mends the gaps they leave;
* :data:`MARKER_LIKE` is what a forgotten marker looks like: the build's safety scan and the leak
  test both use it through :func:`find_marker_like`;
* :data:`LONGEST_TEXT` and :data:`LONGEST_PARAGRAPH` bound what patterns are tried on, since some
  take the square of its length;
* :func:`split_sentences`, :func:`words` and :func:`stem` serve readers and every bag-of-words
  method.
"""

import re
import unicodedata
from collections.abc import Sequence

from mpbert.citations.records import Marker
from mpbert.foundation.lazy_patterns import lazy_re

LONGEST_PARAGRAPH = 100_000  # characters
LONGEST_TEXT = 20_000  # characters of a sentence; the longest of 3.5 million of the ACL has 4,579
_GAP = "\x00"  # stands where a marker was; control characters are gone from the text by then
_CONTROL = lazy_re(r"[\x00-\x1f\x7f-\x9f\ufeff\ufffe\uffff\u2028\u2029\ud800-\udfff]")
_SPACES = lazy_re(r"\s+")
_DIGIT = lazy_re(r"\d")
_INVISIBLE = lazy_re("[\u00ad\u200b-\u200f\u2060]")

# repetitions have bounds, so that a hostile text does not take the square of its length
_NAME = r"[A-Z][\w'’`-]{1,80}"
_IN_BRACKET = r"[^()\[\]]{0,2000}"
_YEAR = r"(?:1[89]|20)\d\d[a-z]?"
MARKER_LIKE: dict[str, re.Pattern[str]] = {
    "author_year": lazy_re(
        rf"[(\[]{_IN_BRACKET}\b{_NAME}(?:,? et al\.?)?,? *[(]?{_YEAR}\b{_IN_BRACKET}[)\]]"
        rf"|\b{_NAME}(?:,? et al\.?| (?:and|&) {_NAME})?,? ?[(\[]{_YEAR}(?:[,;] ?{_YEAR})*[)\]]"
    ),
    "numbered": lazy_re(r"(?<![\w\])])\[\d{1,3}(?: ?[,;–-] ?\d{1,3})*\]"),
    "rfc": lazy_re(r"(?i)(?<![a-z])RFCs?[\s:#_.-]{0,3}\d+"),
    "series": lazy_re(r"(?<![A-Za-z])(?:STD|BCP|FYI|IEN)s?[\s:#-]{0,3}\d+"),
}

# kind -> what is in all its markers beside a digit, and is found faster
_MARKER_HINTS = {
    "author_year": lazy_re(r"(?:1[89]|20)\d\d"),
    "numbered": lazy_re(r"\["),
    "rfc": lazy_re(r"[Rr][Ff][Cc]"),
    "series": lazy_re(r"STD|BCP|FYI|IEN"),
}

_LINK = r"(?:,|;|/|&|\+|-|–|and|or|and/or|as well as|through|to)"
_LEAD = (
    r"(?:(?:see|see also|also|e\.?g\.?|i\.?e\.?|cf\.?|as in|as per|per|in|by|from|of|for example|"
    r"refer to|defined in|and|or|the)[,:]? )*"
)
_PLACE = r"(?:,? ?(?:Sections?|Sec\.|§|Appendix|Chapter|Ch\.|pp?\.|Figure|Table) ?[\w.–-]+)?"
_MEND: list[tuple[re.Pattern[str], str]] = [
    (lazy_re(rf"{_GAP}(?: ?{_LINK}? ?{_LINK}? ?{_GAP})+"), _GAP),
    (lazy_re(rf"(?i)[(\[{{<] ?{_LEAD}{_PLACE} ?{_GAP}{_PLACE} ?[,;.:]? ?[)\]}}>]"), _GAP),
    (lazy_re(rf"([(\[]) ?{_GAP} ?(?:{_LINK} )?"), r"\1"),
    (lazy_re(rf" ?[,;]? ?(?:(?:see|and|e\.g\.|cf\.),? )?{_GAP} ?([)\]])"), r"\1"),
    (lazy_re(rf"[,;] ?{_GAP} ?(?=[,;])"), ""),
    (lazy_re(rf" ?{_GAP}([,;:.!?)\]]|'s\b)"), r"\1"),
    (lazy_re(_GAP), " "),
    (lazy_re(r"(?<!\w)[(\[] ?[,;.]? ?[)\]]"), " "),
    (lazy_re(r"([(\[]) "), r"\1"),
    (lazy_re(r" +([,;:.!?)\]])(?![\w.])"), r"\1"),
    (lazy_re(r"([,;])(?: ?[,;])+"), r"\1"),
    (lazy_re(r"[,;] ?(?=[.!?](?:\s|$))"), ""),
    (lazy_re(r"^[\s,;:.)\]]+(?=\w)"), ""),
]


def clean_characters(text: str) -> str:
    """Return the text in NFC, with single spaces and no control or invisible characters."""
    if text.isascii() and text.isprintable() and "  " not in text:  # most sentences
        return text.strip(" ")
    text = unicodedata.normalize("NFC", _CONTROL.sub(" ", text))
    return _SPACES.sub(" ", _INVISIBLE.sub("", text)).strip()


def cut_markers(text: str, markers: Sequence[Marker]) -> str:
    """Return the clean text without its markers, and without the ruins they leave.

    "( )", " ,", "see and" and the like are mended; a sentence that loses a noun stays as it is.

    :param markers: in order, not overlapping.
    :raises ValueError: a marker is empty, lies outside the text, or overlaps the one before it.
    """
    if not markers:
        return clean_characters(text)
    text = _CONTROL.sub(" ", text)
    pieces, last = [], 0
    for marker in markers:
        if not last <= marker.start < marker.end <= len(text):
            raise ValueError(
                f"marker {marker.start}-{marker.end} is empty, overlaps the one before it, "
                f"or ends after the text's {len(text)} characters"
            )
        pieces += [text[last : marker.start], _GAP]
        last = marker.end
    text = _SPACES.sub(" ", "".join([*pieces, text[last:]]))
    for pattern, replacement in _MEND:
        text = pattern.sub(replacement, text)
    return clean_characters(text)


def find_marker_like(text: str) -> str | None:
    """Return the kind of the first thing in the text that looks like a citation marker, or None."""
    if not _DIGIT.search(text):  # every kind has one, most sentences have none
        return None
    for kind, pattern in MARKER_LIKE.items():
        if _MARKER_HINTS[kind].search(text) and pattern.search(text):
            return kind
    return None


def marker_like_spans(text: str, kind: str) -> list[tuple[int, int]]:
    """Return where a text holds what looks like a citation marker of one kind."""
    if not (_DIGIT.search(text) and _MARKER_HINTS[kind].search(text)):
        return []
    return [match.span() for match in MARKER_LIKE[kind].finditer(text)]


_WORD = lazy_re(r"[^\W_]+")
# of ASCII, all but letters and digits to spaces: then a split finds the words, and faster
_SPACED = "".join(c.lower() if c.isalnum() else " " for c in map(chr, range(128)))


def words(text: str) -> list[str]:
    """Return the lower-case words of a text: runs of letters and digits."""
    if text.isascii():
        return text.translate(_SPACED).split()
    # letter by letter: Python makes two of the first of these, and asks what follows the second
    return _WORD.findall(text.replace("İ", "i").replace("Σ", "σ").lower())


# ending, endings that it must not be a part of, what stands in its place
_PLURALS = (
    ("ies", ("eies", "aies"), "y"),
    ("es", ("aes", "ees", "oes"), "e"),
    ("s", ("us", "ss"), ""),
)


def stem(word: str) -> str:
    """Return a word without plural ending: the S stemmer of Harman (JASIS 1991), Table 1.

    The first rule whose ending fits is applied: -ies becomes -y but not after e or a; -es becomes
    -e but not after a, e or o; -s is dropped but not after u or s.
    """
    if len(word) > 3:
        for ending, exceptions, replacement in _PLURALS:
            if word.endswith(ending) and not word.endswith(exceptions):
                return word.removesuffix(ending) + replacement
    return word


# possessive and never begun within a run of stops: linear, also on a text of stops alone; a pattern
# that looks behind first is slow, since it is tried at every character
_BOUNDARY = lazy_re(
    r"[.!?](?<![.!?]{2})[.!?]*+[\"'”’)\]]*+\s++(?=[\"'“‘„«(\[]*[A-Z0-9\u00c0-\u00de])"
)
_NEVER_LAST = frozenset(
    "al e.g eg i.e ie cf vs fig figs eq eqs eqn eqns sec secs sect no nos vol vols pp p ch app ref "
    "refs tab thm def prop lem ex approx resp ca esp viz dr mr mrs ms prof st jr sr rev ed eds "
    "dept univ incl excl jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_OPENERS = frozenset(
    "The This These That Those It In If We For When A An As At However Note There Each To Such "
    "Otherwise".split()
)
_LONGEST_TOKEN = 64  # characters; what is longer is no abbreviation
_FIRST_WORD = lazy_re(r"[\"'“‘(\[]*(\w*)")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph.

    A full stop does not end one after an abbreviation ("et al.", "Fig.", "e.g."), an initial
    ("J. Postel") or the number of an item at the start ("1. Open the file").
    """
    sentences, start = [], 0
    for match in _BOUNDARY.finditer(text):
        if text[match.start()] == ".":
            low = max(start, match.start() - _LONGEST_TOKEN)
            before = text[low : match.start()]
            token = before.split()[-1] if before and not before[-1].isspace() else ""
            word = token.lstrip("\"'“‘([").rsplit("(", 1)[-1]
            follower = _FIRST_WORD.match(text, match.end()).group(1)
            if word.lower() in _NEVER_LAST:
                continue
            if len(word) == 1 and word.isalpha() and follower not in _OPENERS:
                continue
            is_first = low == start and not before[: len(before) - len(token)].strip()
            if is_first and (word.isdigit() or len(word) <= 2):
                continue
        sentences.append(text[start : match.end()].strip())
        start = match.end()
    rest = text[start:].strip()
    return [*sentences, rest] if rest else sentences
