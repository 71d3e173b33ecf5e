r"""Places in a manuscript: each becomes one private character, which survives all cleaning.

A citation that is a noun of its sentence, as of ``\citet`` or pandoc's ``@key says``, is the word
"They" before its character.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from mpbert.foundation.lazy_patterns import lazy_re
from mpbert.recommending.manuscripts.citation_commands import is_noun, tex_citations
from mpbert.recommending.manuscripts.placeholders import known_keys, open_places
from mpbert.recommending.manuscripts.sites import PANDOC_KEY, SIMPLE_KEY, Site

PLACE = "[CITATION]"
NOUN = "They"  # what stands for the authors that a citation names
_FIRST = 0xF0000  # plane 15, for private use
_MOST = 0xFFFD
_CLASS = "[\U000f0000-\U000ffffd]"
MARK = lazy_re(_CLASS)
_FILLER = "\x1a"  # stands for a character that is not looked at

_BRACES = lazy_re(r"\{([^{}]*)\}")
_PANDOC = lazy_re(r"\[[^\[\]@]{0,200}-?@[^\[\]]{1,2000}\](?!\()")  # before "(" it is a link
_IN_TEXT = lazy_re(
    rf"(?<![\w@\\/])-?@(?:\{{([^{{}}\s]+)\}}|({SIMPLE_KEY}|\?{{2,}}))"
    r"(?: \[[^\[\]@\n\\]{0,40}\d[^\[\]@\n\\]{0,40}\](?![(\[{]))?"
)
# what Quarto, pandoc-crossref and bookdown refer to within a text -> its noun
_NOUNS = {
    **{"fig": "Figure", "tbl": "Table", "tab": "Table", "sec": "Section", "eq": "Equation"},
    **{"lst": "Listing", "thm": "Theorem", "lem": "Lemma", "cor": "Corollary", "def": "Definition"},
    **{"prp": "Proposition", "cnj": "Conjecture", "exm": "Example", "exr": "Exercise"},
    **{"alg": "Algorithm", "rem": "Remark", "sol": "Solution", "apx": "Appendix", "nte": "Note"},
    **{"tip": "Tip", "wrn": "Warning", "imp": "Note", "cau": "Note", "vid": "Video"},
    **{"suppfig": "Figure", "supptbl": "Table", "chap": "Chapter", "ch": "Chapter"},
    **{"subfig": "Figure", "algo": "Algorithm", "prf": "Proof", "prop": "Proposition"},
}
CROSS_REFERENCE = lazy_re(rf"(?i:({'|'.join(_NOUNS)}))[-:][\w:.-]*\w")


@dataclass
class Marks:
    """The places of one manuscript, in the order in which they were found.

    :ivar mentions: of each place what stands there already.
    :ivar unprinted: citations that print nothing, as those of ``nocite``, which are no places.
    """

    mentions: list["Mention"] = field(default_factory=list)
    unprinted: list["Mention"] = field(default_factory=list)

    def add(
        self, keys: tuple[str, ...] = (), site: Site | None = None, is_noun: bool = False
    ) -> str:
        """Return the character of one more place; nothing when there are 65,533 already.

        :param keys: as they stand there; placeholders count for none.
        :param is_noun: whether the citation is a noun of its sentence, for which a word stands.
        """
        noun = NOUN if is_noun else ""
        if len(self.mentions) >= _MOST:
            return noun
        self.mentions.append(Mention(known_keys(list(keys)), site))
        return noun + chr(_FIRST + len(self.mentions) - 1)

    def mention_at(self, mark: str) -> "Mention":
        """Return what stands at a place by its character."""
        return self.mentions[ord(mark) - _FIRST]


@dataclass(frozen=True)
class Mention:
    """One citation of a manuscript.

    :param keys: that stand there already; empty for an open place.
    :param site: where it stands; None where no file holds it as it is read.
    """

    keys: tuple[str, ...] = ()
    site: Site | None = None

    @property
    def is_fixed(self) -> bool:
        """Whether no more keys can be written there."""
        return self.site is None or bool(self.site.hindrance)


@dataclass(frozen=True)
class Found:
    """A citation in a text.

    :param keys: of it, placeholders among them; empty for ``[CITATION]``.
    :param noun: the word of the sentence that it stands for; empty if it is none.
    :param is_place: False for a cross-reference, which stays in the sentence by its noun alone.
    """

    start: int
    end: int
    keys: tuple[str, ...] = ()
    noun: str = ""
    is_place: bool = True


def without_marks(text: str) -> str:
    """Return a text of others without characters that would be taken for places."""
    return MARK.sub("", text)


def plain_characters(text: str) -> str:
    """Return a text of the same length without marks of others, in which a line ends in one way."""
    return MARK.sub("\u2060", text).replace("\r\n", " \n").replace("\r", "\n")


def split_keys(keys: str) -> tuple[str, ...]:
    r"""Return the keys in the braces of ``\cite``."""
    listed = re.sub(r"(?<!\\)%.*", "", keys).split(",")
    return tuple(key.strip() for key in listed if key.strip())


def take_marks(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Return the text without marks, and (place in it, mark) of each."""
    found = list(MARK.finditer(text))
    return MARK.sub("", text), [(match.start() - i, match[0]) for i, match in enumerate(found)]


def replace_spans(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    """Return a text with marks, of which parts are replaced; a mark inside of one stays behind it.

    :param spans: (start, end, what stands there then), in order, in the text without marks.
    """
    bare, found = take_marks(text)
    pieces, last, marks = [], 0, deque(found)
    for start, end, replacement in [*spans, (len(bare), len(bare), "")]:
        while marks and marks[0][0] <= start:
            place, mark = marks.popleft()
            pieces += [bare[last:place], mark]
            last = place
        pieces += [bare[last:start], replacement]
        while marks and marks[0][0] < end:
            pieces.append(marks.popleft()[1])
        last = end
    return "".join(pieces)


def find_places(text: str, in_text_keys: bool = False) -> list[Found]:
    r"""Return ``\cite{...}``, ``[CITATION]``, ``[?]``, ``[@key]`` and the like in a text.

    :param in_text_keys: whether ``@key`` without brackets is a place too, as in pandoc's Markdown.
    """
    found_tex = (match for pattern in tex_citations(text) for match in pattern.finditer(text))
    spans = list(filter(None, map(_of_tex, found_tex)))
    spans += [Found(*match.span()) for match in open_places().finditer(text)]
    for pattern in (_PANDOC, _IN_TEXT) if in_text_keys else (_PANDOC,):
        spans += filter(None, (_of_pandoc(match) for match in pattern.finditer(text)))
    found: list[Found] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found


def mark_found(text: str, marks: Marks, found: Iterable[tuple[Found, Site | None]]) -> str:
    """Return the text with one private character for each citation that a reader found.

    :param found: with the site of each, in any order; of two that overlap the first one counts.
    """
    pieces, last = [], 0
    for one, site in sorted(found, key=lambda each: (each[0].start, -each[0].end)):
        if one.start < last:
            continue
        gap = " " if one.noun and text[one.start] == "~" else ""
        word = one.noun
        if one.is_place:
            word = marks.add(one.keys, site, bool(one.noun))
        elif one.keys and not one.noun:
            marks.unprinted.append(Mention(one.keys, site))
        pieces += [text[last : one.start], gap, word]
        last = one.end
    return "".join([*pieces, text[last:]])


def mark_places(
    text: str,
    marks: Marks,
    in_text_keys: bool = False,
    site: Callable[[int, int], Site | None] = lambda start, end: None,
) -> str:
    """Return the text with one private character for each place.

    :param site: from [start, end) of a place in the text to where it stands in a file.
    """
    found = find_places(text, in_text_keys)
    return mark_found(text, marks, ((one, site(one.start, one.end)) for one in found))


def outermost(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return [start, end) in order, without those that begin within another."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def masked(text: str, literal: Sequence[tuple[int, int]]) -> str:
    """Return a text of the same length in which nothing is found in some parts."""
    pieces, last = [], 0
    for start, end in literal:
        pieces += [text[last:start], _FILLER * (end - start)]
        last = end
    return "".join([*pieces, text[last:]])


def noun_of(kind: str) -> str:
    """Return the noun of a kind of cross-reference, such as ``fig``."""
    return _NOUNS[kind.lower()]


def _of_tex(match: re.Match[str]) -> Found | None:
    keys = tuple(key for listed in _BRACES.findall(match[0]) for key in split_keys(listed))
    if any(set(key) & set("#\\") for key in keys):  # in the definition of a command
        return None
    return Found(*match.span(), keys, NOUN if is_noun(match[1]) else "")


def _of_pandoc(match: re.Match[str]) -> Found | None:
    found = [(braced or bare) for braced, bare in PANDOC_KEY.findall(match[0])]
    keys = tuple(key for key in found if not CROSS_REFERENCE.fullmatch(key))
    is_group = match[0].startswith("[")
    if keys or not found:
        noun = "" if is_group or match[0].startswith("-") else NOUN
        return Found(*match.span(), keys, noun) if found else None
    noun = noun_of(CROSS_REFERENCE.fullmatch(found[0])[1])
    return Found(match.start(), match.end(), (), "" if is_group else noun, is_place=False)
