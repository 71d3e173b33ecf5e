r"""Where a citation stands in a file, and what is written there for more keys.

A site is [start, end) of the file's characters: all of an open place such as ``[CITATION]``, and
otherwise the empty span behind the last key.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mpbert.recommending.manuscripts.source_text import SourceText

OPEN = re.compile(r"\s*(?:todo|\?+|x{2,3})?\s*", re.IGNORECASE)  # keys that stand for none
# commands that print a part of a reference and so name one paper
NAMING = frozenset(
    "citeauthor citefullauthor Citeauthor citeyear citeyearpar citenum citetalias citepalias "
    "citetitle citedate citeurl".split()
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SIMPLE_KEY = re.compile(r"\w(?:[\w:.#$%&+?<>~/-]*[\w/])?")

# form -> what stands before, between and behind keys
_TEX = {"cite": ("\\cite{", ",", "}"), "keys": ("", ",", ""), "more keys": (",", ",", "")}
_PANDOC = {"group": ("[", "; ", "]"), "more": ("; ", "; ", "")}
_FORMS = _TEX | _PANDOC


@dataclass(frozen=True)
class Site:
    """Where keys may be written.

    :param source: the file; ``start`` and ``end`` are places in its text.
    :param form: what is written there, one of ``cite``, ``keys``, ``more keys`` of TeX, ``group``
        and ``more`` of pandoc.
    :param hindrance: why nothing can be written there; empty if it can.
    """

    source: SourceText
    start: int
    end: int
    form: str
    hindrance: str = ""

    @property
    def line(self) -> int:
        """Number of the line, from 1."""
        return self.source.text.count("\n", 0, self.start) + 1

    def written(self, keys: Sequence[str]) -> str:
        """Return what stands at the site afterwards."""
        before, between, behind = _FORMS[self.form]
        names = map(_pandoc_key, keys) if self.form in _PANDOC else keys
        return before + between.join(names) + behind

    def frame(self) -> dict[str, str]:
        """Return what stands before, between and behind the keys that are written."""
        return dict(zip(("before", "between", "behind"), _FORMS[self.form], strict=True))


def site_in_text(source: SourceText, start: int, end: int) -> Site:
    r"""Return the site of a place at [start, end) of a Markdown file or a plain text."""
    found = source.text[start:end]
    command = _COMMAND.search(found)
    if found.startswith("[") and "@" in found:
        if OPEN.fullmatch(found[1:-1].strip().removeprefix("@")):
            return Site(source, start, end, "group")
        return Site(source, end - 1, end - 1, "more")
    if command and "{" in found:
        return site_of_keys(source, start + found.rindex("{") + 1, end - 1, command[1])
    if "@" in found:
        return Site(source, start, end, "group", f"{found} is a part of its sentence")
    return Site(source, start, end, "group")


def site_of_keys(source: SourceText, start: int, end: int, command: str) -> Site:
    r"""Return the site of a ``\cite`` whose last keys stand at [start, end)."""
    keys = source.text[start:end]
    if command in NAMING:
        return Site(source, start, end, "keys", f"\\{command} names one paper")
    if "%" in keys:
        return Site(source, start, end, "keys", "a comment stands among its keys")
    if OPEN.fullmatch(keys):
        return Site(source, start, end, "keys")
    if keys.rstrip().endswith(","):
        return Site(source, end, end, "keys")
    return Site(source, end, end, "more keys")


def _pandoc_key(key: str) -> str:
    return f"@{key}" if _SIMPLE_KEY.fullmatch(key) else f"@{{{key}}}"
