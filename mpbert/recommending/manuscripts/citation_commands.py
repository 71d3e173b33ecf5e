r"""Commands of natbib and biblatex that cite, and which of them print words of the sentence."""

import re

from mpbert.foundation.lazy_patterns import lazy_re

CITE_COMMANDS = frozenset(
    # natbib
    "cite citet citep citealt citealp citeauthor citefullauthor citeyear citeyearpar citenum "
    "citetalias citepalias Citet Citep Citealt Citealp Citeauthor "
    # biblatex
    "Cite parencite Parencite footcite footcitetext textcite Textcite smartcite Smartcite "
    "supercite autocite Autocite fullcite footfullcite citetitle citedate citeurl "
    "notecite Notecite pnotecite fnotecite "
    # of other packages and classes: apacite, harvard, jurabib, acronyms of publishers
    "onlinecite citeA citeNP shortcite shortciteA citeasnoun citeaffixed possessivecite "
    "footciteauthor Citeyear".split()
)
MULTI_CITE_COMMANDS = frozenset(
    "cites Cites parencites Parencites footcites footcitetexts smartcites Smartcites textcites "
    "Textcites supercites autocites Autocites".split()
)
VOLUME_CITE_COMMANDS = frozenset(
    "volcite Volcite pvolcite Pvolcite fvolcite ftvolcite svolcite Svolcite tvolcite Tvolcite "
    "avolcite Avolcite".split()
)
ALL_COMMANDS = CITE_COMMANDS | MULTI_CITE_COMMANDS | VOLUME_CITE_COMMANDS
# what they print is a noun of the sentence
TEXTUAL = frozenset(
    "citet Citet citeauthor Citeauthor citefullauthor citetalias textcite Textcite textcites "
    "Textcites tvolcite Tvolcite citeA shortciteA citeasnoun possessivecite citetitle".split()
)
# what they print is a part of a reference, and so names one paper
NAMING = frozenset(
    "citeauthor citefullauthor Citeauthor citeyear citeyearpar citenum citetalias citepalias "
    "citetitle citedate citeurl footciteauthor Citeyear".split()
)

_CITING = lazy_re(
    r"\\([a-z]{0,12}[Cc]ite(?:s|t|p|alt|alp|author|year|yearpar|title|text)?)\*?(?=[\[{])"
)
_NOT_CITING = frozenset("nocite citestyle fullnocite".split())

_ALL = "|".join(sorted(ALL_COMMANDS))
_NOTE = r"\s{0,3}(?:\[[^\[\]{}]{0,200}\]|\([^()\[\]{}]{0,200}\)|<[^<>{}]{0,200}>)"
_KEYS = r"\s{0,3}\{[^{}\\]{0,2000}\}"
TEX_CITATION = lazy_re(rf"~?\\({_ALL})\b\*?(?:(?:{_NOTE}){{0,4}}{_KEYS})+")

TEX_COMMENT = lazy_re(r"(?<!\\)%[^\n]*")


def other_commands(text: str) -> frozenset[str]:
    r"""Return commands of unknown packages that cite by their names, as ``\sidecite``."""
    return frozenset(_CITING.findall(text)) - ALL_COMMANDS - _NOT_CITING


def tex_citations(text: str) -> list[re.Pattern[str]]:
    r"""Return patterns of ``\cite{...}``, of which the first group is the command."""
    others = "|".join(sorted(other_commands(text)))
    own = rf"\\({others})\*?(?:\[[^\[\]]*\])*\{{[^{{}}]*\}}"
    return [TEX_CITATION, re.compile(own)] if others else [TEX_CITATION]


def is_noun(command: str) -> bool:
    """Return whether what a command prints is a noun of the sentence."""
    is_named = command.endswith(("textcite", "citet", "citeauthor", "Textcite", "Citet"))
    return command in TEXTUAL or (is_named and not command.startswith("foot"))
