"""Author-year citations in running text: ``(Koo et al., 2008)``, ``Collins (2003; 1999)``.

:func:`find_citations` finds them from their years: the text before each year is read backwards as
a list of names. It knows no references, so it also finds what cites papers outside the corpus.
"""

import re
from dataclasses import dataclass

from mpbert.citations.printed_names import Name, names_near, read_names_backwards
from mpbert.foundation.lazy_patterns import lazy_re

# 1999, 1999a; a digit, a letter or a decimal point beside it makes it another number
_YEAR = lazy_re(
    r"(?<![\dA-Z_$£/-])(?<!\d\.)(?P<year>1[89]\d\d|20[01]\d)"
    r"(?:\s?(?P<suffix>[a-h])(?![\w'])|\s?\((?P<round_suffix>[a-h])\))?(?![\w%]|\.\d|-\d)"
    r"|\b(?P<press>in press|to appear|forthcoming|this volume|in prep(?:aration|\.)|in progress|"
    r"submitted)\b"
    r"|(?<=[\s'’,.])['’]?(?P<short>[5-9]\d|0\d|1[0-3])(?P<short_suffix>[a-h])?(?=\s*\\?[\],;:]|1(?!\d))"
)
_MORE_SUFFIXES = lazy_re(r"\s?(?:[,/;&]|and\b)\s?([b-h])(?![\w.'])")
_CONTINUES = lazy_re(r"[\s,;&/]*(?:(?:and|or)\b)?[\s,;]*[(\[]?\s*")
_BEFORE_YEAR = lazy_re(r"[\s,.:]*[(\[{]?[\s,:]*(?:\bin\s)?\s*$")
_PAGES = lazy_re(
    r"\s?[,:;]?\s?(?:pp?\.|pages?|[Ss]ect?(?:ion|\.)?|[Cc]h(?:apter|ap\.|\.)|[Tt]able|[Ff]ig(?:ure|\.)|§|"
    r"[Vv]ol\.|n\.|fn\.|[Aa]ppendix)\s?[\dIVXA-F]+(?:\s?[-–.,&]\s?[\dIVX]+)*(?:ff?\.?)?(?=\s?[)\],;])"
    r"|\s?:\s?\d+(?:\s?[-–,.]\s?\d+)*(?:ff?\.?)?|\s?,\s?\d{1,3}(?:[-–]\d{1,3})?(?=\s?[)\]])"
)
_MENTION = lazy_re(r"\bet al\b\.?(?:\s?['’]s?\b)?")
_LONGEST_BRACKET = 800
_LONGEST_GAP = 100  # characters between names and year; patterns take its third power


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
    is_in_press: bool = False
    is_short: bool = False
    cited_ids: tuple[str, ...] = ()


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
        names, et_al = read_names_backwards(text, low, match.end())
        if names and et_al:
            mentions.append(Citation(names[0].start, match.end(), names, True, None))
    return sorted([*found, *mentions], key=lambda c: c.start)


def _citation_at(
    text: str, match: re.Match[str], low: int, found: list[Citation]
) -> Citation | None:
    year, suffix = _year_of(match)
    nearest = max(low, match.start() - _LONGEST_GAP)
    continues = nearest == low and _CONTINUES.fullmatch(text, low, match.start())
    if found and low and match["press"] is None and continues:
        last = found[-1]
        return Citation(
            *(match.start(), match.end(), last.names, last.et_al, year, suffix),
            is_inherited=True,
            is_certain=match["short"] is None,
        )
    gap = _BEFORE_YEAR.search(text, nearest, match.start())
    before = gap.start() if gap else match.start()
    names, et_al = read_names_backwards(text, max(low, before - 160), before)
    opened = gap is not None and any(bracket in gap.group() for bracket in "([{")
    if names:
        return Citation(
            names[0].start,
            match.end(),
            names,
            et_al,
            year,
            suffix,
            is_certain=_is_certain(text, match, names, et_al, opened),
            is_in_press=match["press"] is not None,
            is_short=match["short"] is not None,
        )
    if not match["year"] or not opened:
        return None
    near = names_near(text, max(low, before - 80), before)
    return Citation(
        *(match.start(), match.end(), near, False, year, suffix), is_distant=True, is_certain=False
    )


def _is_certain(
    text: str, match: re.Match[str], names: tuple[Name, ...], et_al: bool, opened: bool
) -> bool:
    """Whether names and a year cannot be anything but a citation.

    :param opened: whether a bracket opens between the names and the year.
    """
    in_square = is_inside(text, names[0].start, "[]")
    in_round = is_inside(text, names[0].start, "()")
    if match["short"]:
        return in_square or (opened and (et_al or len(names) > 1))
    if match["press"]:
        return in_round or in_square or opened
    is_closed = text[match.end() : match.end() + 1] in (")", "]", ";", "/")
    return opened or et_al or len(names) > 1 or in_square or in_round or is_closed


def is_inside(text: str, place: int, brackets: str) -> bool:
    """Return whether a place lies inside brackets of a kind, such as ``"()"``."""
    low = max(0, place - _LONGEST_BRACKET)
    return text.rfind(brackets[0], low, place) > text.rfind(brackets[1], low, place)


def _year_of(match: re.Match[str]) -> tuple[int | None, str]:
    if match["year"]:
        return int(match["year"]), match["suffix"] or match["round_suffix"] or ""
    if match["press"]:
        return None, ""
    short = int(match["short"])
    return short + (1900 if short > 13 else 2000), match["short_suffix"] or ""
