r"""What people type where a citation will be: ``\cite{todo}``, ``[citation needed]``, ``(REF)``."""

import re
from functools import cache

from mpbert.foundation.lazy_patterns import lazy_re

_OF = r"(?:cit(?:e|ation)s?|cit\.|ref(?:erence)?s?)"
_DO = r"(?:add|find|insert|needs?|needed|missing|todo|fixme)"
_KEY = lazy_re(
    rf"""\s*(?:
    | [?.*!_-]+ | \S*\?+                              # ???, smith2004?
    | (?:\S*[\W_])?todo\d{{0,3}}(?:[\W_]\S*)?         # todo, TODO2, smith-todo; not todorov2004
    | (?:\S*[\W_])?fixme(?:[\W_]\S*)?
    | x{{2,}}\d{{0,3}} | tb[adc] | tk+
    | {_OF}(?:[\W_]?(?:me|this|here|needed|missing))? # citation-needed
    | {_DO}(?:[\W_]a)?(?:[\W_]?{_OF})?
    | (?:some|your|my|the|bib|cite|citation)?[\W_]?key
    | placeholder | dummy | unknown
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_TASK = rf"(?:{_DO}[\s:_-]{{1,2}}(?:an?\s|the\s)?)"
_SAID = rf"{_TASK}?{_OF}(?:[\s_-](?:needed|missing|here|please|todo))?"
_ANY_CASE = rf"(?i:{_SAID})"
_WHOM = r"[^][@{}()\n]{1,60}"  # "cite Smith 2004", "citation: Smith", "reference for this"
_WHAT = (
    rf"(?i:(?:{_TASK}?(?:cite:?\s(?!as\b)|(?:citations?|cit\.):\s?)"
    rf"|{_TASK}{_OF}\s(?:for|to|of|from)\s){_WHOM})"
)
_LOUD = r"(?:CITE|CITATION|REF)(?:[ _-]?(?:NEEDED|MISSING|HERE|TODO|ME|\d{1,2}))?"
_BARE = (
    r"\[CITATION\]|\[\?+\]"
    rf"|(?<!\])\[\s?(?:{_ANY_CASE}|{_WHAT}|{_LOUD}|(?i:sources?(?:\s(?:needed|missing)|\s?(?=\?))|cn)"
    r"|XXX+|TODO|-?@[?.]*)\s?[?!]*\](?![(:{])"
    rf"|(?<!\w)\((?:{_LOUD}|CIT(?:E|ATION)S|REF(?:ERENCE)?S?|XXX+|\?\?+|{_WHAT}"
    rf"|(?i:{_TASK}{_OF}|{_OF}\s(?:needed|missing|here)|cite|citation))\s?[?!]*\)"
    rf"|\((?i:{_OF})\s?[?!]+\)"
)
_IN_TEXT = rf"{_BARE}|\{{\{{(?i:cn|cite|fact|citation needed)\}}\}}|(==|\*\*){_LOUD}\?*\1"
# in TeX also a note to oneself that asks for nothing but a citation
_IN_TEX = (
    rf"{_BARE}"
    rf"|\\(?:todo|Todo|TODO|fixme|FIXME)\*?\s?(?:\[[^\[\]{{}}]{{0,80}}\])?\{{\s?(?:{_ANY_CASE}|{_WHAT})\s?[?!.]*\}}"
    rf"|\\(?:hl|textbf|emph|textit|underline|(?:textcolor|colorbox)\{{\w+\}})\{{\s?{_LOUD}\s?[?!]*\}}"
    r"|\\(?:citationneeded|citeneeded|citneeded|needs?cite|needs?citation)(?![A-Za-z@])(?:\[[^][{}]{0,200}\])?(?:\{\})?"
)


@cache
def open_places(is_tex: bool = False) -> re.Pattern[str]:
    """Return what finds the places of a text, or of TeX; to compile either takes a while."""
    return re.compile(_IN_TEX if is_tex else _IN_TEXT)


def is_placeholder(key: str) -> bool:
    """Return whether a key stands for none that its author knows yet."""
    return len(key) <= 80 and _KEY.fullmatch(key) is not None


def known_keys(keys: list[str]) -> tuple[str, ...]:
    """Return keys without those that stand for none."""
    return tuple(key for key in keys if not is_placeholder(key))
