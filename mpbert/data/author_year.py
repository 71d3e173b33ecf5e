"""Author-year citations in running text: ``(Koo et al., 2008)``, ``Collins (2003; 1999)``.

:func:`find_citations` finds them from their years: the text before each year is read backwards as
a list of names. It knows no references, so it also finds what cites papers outside the corpus.
"""

import re
from dataclasses import dataclass, field, replace

from mpbert.data.names import PARTICLES, fold

# 1999, 1999a; a digit, a letter or a decimal point beside it makes it another number
_YEAR = re.compile(
    r"(?<![\dA-Z_$£/-])(?<!\d\.)(?P<year>1[89]\d\d|20[01]\d)"
    r"(?:\s?(?P<suffix>[a-h])(?![\w'])|\s?\((?P<round_suffix>[a-h])\))?(?![\w%]|\.\d|-\d)"
    r"|\b(?P<press>in press|to appear|forthcoming|this volume|in prep(?:aration|\.)|in progress|submitted)\b"
    r"|(?<=[\s'’,.])['’]?(?P<short>[5-9]\d|0\d|1[0-3])(?P<short_suffix>[a-h])?(?=\s*\\?[\],;:]|1(?!\d))"
)
_MORE_SUFFIXES = re.compile(r"\s?(?:[,/;&]|and\b)\s?([b-h])(?![\w.'])")
_CONTINUES = re.compile(r"[\s,;&/]*(?:(?:and|or)\b)?[\s,;]*[(\[]?\s*")
_BEFORE_YEAR = re.compile(r"[\s,.:]*[(\[{]?[\s,:]*(?:\bin\s)?\s*$")
_PAGES = re.compile(
    r"\s?[,:;]?\s?(?:pp?\.|pages?|[Ss]ect?(?:ion|\.)?|[Cc]h(?:apter|ap\.|\.)|[Tt]able|[Ff]ig(?:ure|\.)|§|[Vv]ol\.|n\.|fn\.|[Aa]ppendix)"
    r"\s?[\dIVXA-F]+(?:\s?[-–.,&]\s?[\dIVX]+)*(?:ff?\.?)?(?=\s?[)\],;])|\s?:\s?\d+(?:\s?[-–,.]\s?\d+)*(?:ff?\.?)?|\s?,\s?\d{1,3}(?:[-–]\d{1,3})?(?=\s?[)\]])"
)
_MENTION = re.compile(r"\bet al\b\.?(?:\s?['’]s?\b)?")
_TOKEN = re.compile(
    r"(?:[dDlLO]['’`]\s?)?[^\W\d_?][\w'’`´¨ˆ^ˇ˜~?\ufffd]*(?:-\s?[^\W\d_][\w'’`´¨ˆ^ˇ˜~?\ufffd]*)*\.?"
    r"|\?[a-z][\w?]*(?:-[A-Z]\w*)?|['’?]s?(?=\s|$)|\S"
)
_STOP = frozenset(
    """the in see using following while as although both by for from with unlike like since when
    however recently also furthermore moreover but or if then this these that our we section sections
    table tables figure figures fig chapter task treebank corpus january february april june july
    august september october november december spring summer autumn fall winter acl emnlp conll coling
    naacl eacl trec muc duc tac senseval semeval nist wmt iwslt lrec clef ntcir hlt ijcnlp proceedings
    conference workshop university press journal linguistics language version release wordnet framenet
    verbnet propbank windows since until before after between during around about circa early late mid
    a an at on of to is are it they he she his her their its not all some many most other others
    similarly additionally finally thus hence here there where such according each two three more
    equation equations eq example examples appendix algorithm step part parts phase model models
    system systems method table theorem lemma definition note footnote pages page vol volume no
    later first second third""".split()
)
_LONGEST_BRACKET = 800
_CONNECTORS = (",", "and", "&", "und")
_BEFORE_NAME = ("(", "[", ";", "and", "&")
# words that are names of authors too: taken for such after "and", before "et al." and in brackets
_NAMES_TOO = frozenset("may march he page an to on so see her long part all early".split())
_AL = re.compile(r"a[l1]s?\.?(?:['’`]s?)?", re.IGNORECASE)
_GENERATION = frozenset(["jr.", "jr", "sr.", "iii", "ii", "iv"])


@dataclass(frozen=True, slots=True)
class Name:
    """A printed name: its folded words, and where it and they start.

    :param follows_and: it is the last of a list, as Lin in "Pantel and Lin".
    """

    words: tuple[str, ...]
    start: int
    word_starts: tuple[int, ...] = ()
    follows_and: bool = False


@dataclass(slots=True)
class Citation:
    """One cited work: names and year as printed.

    :ivar start: first character, that of the first name; of the year where names are inherited.
    :ivar end: one past the year, its suffix and pages.
    :ivar year: None for "in press" and its like, and where there is none.
    :ivar is_short: its year is printed with two digits.
    :ivar is_in_press: "in press" or its like stands in the year's place.
    :ivar is_inherited: the names belong to an earlier year, as 1999 in ``Collins (2003; 1999)``.
    :ivar is_distant: the names stand apart from the year, as in ``Collins' parser (1999)``.
    :ivar is_certain: looks like a citation even when no reference is known.
    """

    start: int
    end: int
    names: tuple[Name, ...]
    et_al: bool
    year: int | None
    suffix: str = ""
    is_inherited: bool = False
    is_distant: bool = False
    is_certain: bool = True
    is_textual: bool = False
    is_in_press: bool = False
    is_short: bool = False
    cited_ids: tuple[str, ...] = field(default=())


def _is_initials(token: str) -> bool:
    return len(token) <= 2 and token[0].isupper() and (len(token) == 1 or token[1] == ".")


def _is_name(token: str, is_likely: bool) -> bool:
    if not (token[0].isupper() or (token[0] == "?" and len(token) > 3)):
        return False
    folded = fold(token)
    if len(folded) < 2 or _is_initials(token):
        return False
    return folded not in _STOP or (is_likely and folded in _NAMES_TOO)


def read_names_backwards(text: str, low: int, high: int) -> tuple[tuple[Name, ...], bool, int]:
    """Read the list of names that ends at ``high``.

    :param low: where to stop at the latest.
    :returns: names in reading order, whether "et al." closes them, and the start of the list;
        no names where the text there is no list of names.
    """
    tokens = [(m.group(), m.start() + low) for m in _TOKEN.finditer(text[low:high])]
    place = len(tokens) - 1
    while place >= 0 and tokens[place][0] in ("'s", "’s", "?s", "'", "’", "?", "`"):
        place -= 1
    et_al = False
    if place >= 1 and tokens[place][0] == "." and _AL.fullmatch(tokens[place - 1][0]):
        place -= 1
    if place >= 1 and _AL.fullmatch(tokens[place][0]):
        if tokens[place - 1][0].lower().rstrip(".") in ("et", "el", "er", "ct", "e", "at"):
            et_al, place = True, place - 2
        elif tokens[place - 1][0] == "." and tokens[place - 2][0].lower() == "et":
            et_al, place = True, place - 3
    elif place >= 0 and tokens[place][0].lower().rstrip(".") == "etal":
        et_al, place = True, place - 1
    elif place >= 0 and tokens[place][0].lower().rstrip("'’") in (
        "colleagues",
        "others",
        "coworkers",
        "associates",
    ):
        step = place - 1
        while step >= 0 and tokens[step][0] in ("his", "her", "their", "co", "-"):
            step -= 1
        if step >= 1 and tokens[step][0] in ("and", "&"):
            et_al, place = True, step - 1
    names: list[Name] = []
    start = -1
    while place >= 0 and len(names) < 9:
        if names or et_al:  # a connector must stand between two names
            connected = place
            while place >= 0 and tokens[place][0] in _CONNECTORS:
                place -= 1
            if names and connected == place:
                break
            if names and any(token != "," for token, _ in tokens[place + 1 : connected + 1]):
                names[-1] = replace(names[-1], follows_and=True)
        last = place
        name, place = _read_name(tokens, place, bool(names) or et_al)
        if name is None and et_al and not names:  # "et al." makes a name of whatever stands there
            name, place = _any_name(tokens, last)
        if name is None:
            break
        names.append(name)
        start = name.start
    return tuple(reversed(names)), et_al, start


def _read_name(
    tokens: list[tuple[str, int]], place: int, is_likely: bool
) -> tuple[Name | None, int]:
    while place >= 1 and (
        tokens[place][0].lower() in _GENERATION or _is_initials(tokens[place][0])
    ):
        place -= 1  # "Smith, J." and "Smith Jr."
        if tokens[place][0] == ",":
            place -= 1
    is_likely = is_likely or (place >= 1 and tokens[place - 1][0] in _BEFORE_NAME)
    if place < 0 or not _is_name(tokens[place][0], is_likely):
        return None, place
    words, starts = [fold(tokens[place][0])], [tokens[place][1]]
    start = starts[0]
    place -= 1
    while place >= 0:
        token, token_start = tokens[place]
        if token.lower() in PARTICLES or (
            len(words) < 3 and _is_name(token, False) and token[-1] != "."
        ):
            words.append(fold(token))
            starts.append(token_start)
        elif not _is_initials(token) and token != "-":
            break
        start = token_start
        place -= 1
    while len(words) > 1 and words[-1] in ("i", "y", "d", "do", "la", "le"):
        words.pop()
        start = starts[-2]
        starts.pop()
    return Name(tuple(reversed(words)), start, tuple(reversed(starts))), place


def _any_name(tokens: list[tuple[str, int]], place: int) -> tuple[Name | None, int]:
    if place < 0 or len(fold(tokens[place][0])) < 3:
        return None, place
    token, start = tokens[place]
    return Name((fold(token),), start, (start,)), place - 1


def find_citations(text: str) -> list[Citation]:
    """Return all author-year citations of a sentence, in order, not resolved."""
    found: list[Citation] = []
    low = 0
    for match in _YEAR.finditer(text):
        if match.start() < low:
            continue
        citation = _citation_at(text, match, low, found)
        if citation is not None:
            found.append(citation)
            low = citation.end
            while citation.suffix and (more := _MORE_SUFFIXES.match(text, low)):
                low = more.end()
                found.append(
                    Citation(
                        more.start(1),
                        low,
                        citation.names,
                        citation.et_al,
                        citation.year,
                        more.group(1),
                        is_inherited=True,
                        is_textual=citation.is_textual,
                    )
                )
            if pages := _PAGES.match(text, low):
                found[-1].end = low = pages.end()
    return _with_mentions(text, found)


def _with_mentions(text: str, found: list[Citation]) -> list[Citation]:
    """Return the citations and, besides, all names with "et al." that no year follows."""
    if "et al" not in text:
        return found
    mentions = []
    for match in _MENTION.finditer(text):
        before = [c.end for c in found if c.end <= match.end()]
        if any(c.start < match.end() <= c.end for c in found):
            continue
        low = max(before[-1] if before else 0, match.start() - 120)
        names, et_al, start = read_names_backwards(text, low, match.end())
        if names and et_al:
            mentions.append(Citation(start, match.end(), names, True, None))
    return sorted([*found, *mentions], key=lambda c: c.start)


def _citation_at(
    text: str, match: re.Match[str], low: int, found: list[Citation]
) -> Citation | None:
    year, suffix = _year_of(match)
    if found and low and match["press"] is None and _CONTINUES.fullmatch(text, low, match.start()):
        last = found[-1]
        return Citation(
            match.start(),
            match.end(),
            last.names,
            last.et_al,
            year,
            suffix,
            is_inherited=True,
            is_textual=last.is_textual,
            is_certain=match["short"] is None,
        )
    gap = _BEFORE_YEAR.search(text, low, match.start())
    before = gap.start() if gap else match.start()
    names, et_al, start = read_names_backwards(text, max(low, before - 160), before)
    opened = gap is not None and any(bracket in gap.group() for bracket in "([{")
    if not names:
        if match["year"] and opened:
            return Citation(
                match.start(),
                match.end(),
                _names_near(text, max(low, before - 80), before),
                False,
                year,
                suffix,
                is_distant=True,
                is_certain=False,
                is_textual=True,
            )
        return None
    in_square = is_inside(text, start, "[]")
    in_round = is_inside(text, start, "()")
    if match["short"]:
        certain = in_square or (opened and (et_al or len(names) > 1))
    elif match["press"]:
        certain = in_round or in_square or opened
    else:
        certain = opened or et_al or len(names) > 1 or in_square or in_round
        certain = certain or text[match.end() : match.end() + 1] in (")", "]", ";", "/")
    return Citation(
        start,
        match.end(),
        names,
        et_al,
        year,
        suffix,
        is_certain=certain,
        is_textual=opened,
        is_in_press=match["press"] is not None,
        is_short=match["short"] is not None,
    )


def is_inside(text: str, place: int, brackets: str) -> bool:
    """Return whether a place lies inside brackets of a kind, such as ``"()"``."""
    low = max(0, place - _LONGEST_BRACKET)
    return text.rfind(brackets[0], low, place) > text.rfind(brackets[1], low, place)


def _names_near(text: str, low: int, high: int) -> tuple[Name, ...]:
    """Return each capitalised word as a name, for a year that stands apart from its names."""
    found = []
    for token in _TOKEN.finditer(text, low, high):
        if _is_name(token.group(), False):
            found.append(Name((fold(token.group()),), token.start(), (token.start(), token.end())))
    return tuple(found)


def _year_of(match: re.Match[str]) -> tuple[int | None, str]:
    if match["year"]:
        return int(match["year"]), match["suffix"] or match["round_suffix"] or ""
    if match["press"]:
        return None, ""
    short = int(match["short"])
    return short + (1900 if short > 13 else 2000), match["short_suffix"] or ""
