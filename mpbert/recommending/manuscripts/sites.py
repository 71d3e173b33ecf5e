r"""Where a citation stands in a file, and what is written there for more keys.

A site is [start, end) of the file's characters: all of an open place such as ``[CITATION]``, a
placeholder among keys, and otherwise the empty span behind the last key.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from mpbert.foundation.lazy_patterns import lazy_re
from mpbert.recommending.manuscripts.citation_commands import NAMING
from mpbert.recommending.manuscripts.placeholders import is_placeholder
from mpbert.recommending.manuscripts.source_text import SourceText

_COMMAND = lazy_re(r"\\([A-Za-z]+)")
# of pandoc: marks of punctuation stand alone within it, but for those of an address of the web
SIMPLE_KEY = r"\w(?:\w|[:.#$%&+?<>~/-](?=\w)|[:/](?=/))*"
_SIMPLE_KEY = lazy_re(SIMPLE_KEY)
PANDOC_KEY = lazy_re(
    rf"(?<![\w@])@(?:\{{([^{{}}\s]+)\}}|({SIMPLE_KEY}\?*|\?+))"
)  # Key? asks for one
ORG_KEY = lazy_re(r"(?<![\w@])@(?:\{([^{}\s]+)\}|(\w(?:[\w:.#$%&+?<>~/-]*[\w/])?\?*|\?+))")
_TYPST_KEY = lazy_re(r"[\w][\w.:-]*(?<![.:-])")


def _pandoc(key: str) -> str:
    return f"@{key}" if _SIMPLE_KEY.fullmatch(key) else f"@{{{key}}}"


def _typst(key: str) -> str:
    return f"@{key}" if _TYPST_KEY.fullmatch(key) else f"#cite(label({json.dumps(key)}))"


@dataclass(frozen=True)
class Style:
    """How citations are written.

    :param before: what stands before, ``between`` and ``behind`` the keys of a citation.
    :param of_key: from a key to how it is written.
    :param is_by_name: whether authors and year are written, not keys.
    """

    before: str
    between: str
    behind: str
    of_key: Callable[[str], str] = str
    is_by_name: bool = False


TEX = Style("\\cite{", ",", "}")
PANDOC = Style("[", "; ", "]", _pandoc)
IN_TEXT = Style("", " and ", "", _pandoc)
ORG = Style("[cite:", ";", "]", lambda key: f"@{key}")
RST = Style(":cite:p:`", ",", "`")
TYPST = Style("", " ", "", _typst)


def _xml(text: str) -> str:
    from html import escape  # few manuscripts are XML

    return escape(text, quote=False)


# how a text is written down within a file of another form
_ESCAPES: dict[str, Callable[[str], str]] = {
    "": str,
    "json": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "xml": _xml,
}


@dataclass(frozen=True)
class Site:
    """Where keys may be written.

    :param source: the file; ``start`` and ``end`` are places in its text.
    :param style: how a citation is written there; of one that stands there already, its ``before``
        and ``behind`` are what comes before and behind the new keys.
    :param hindrance: why nothing can be written there; empty if it can.
    :param escape: how the file writes text: as it is, ``json`` or ``xml``.
    """

    source: SourceText
    start: int
    end: int
    style: Style
    hindrance: str = ""
    escape: str = field(default="")

    @property
    def line(self) -> int:
        """Number of the line, from 1."""
        return self.source.text.count("\n", 0, self.start) + 1

    def written(self, keys: Sequence[str]) -> str:
        """Return what stands at the site afterwards."""
        style = self.style
        listed = style.between.join(map(style.of_key, keys))
        return _ESCAPES[self.escape](style.before + listed + style.behind)

    def frame(self) -> dict[str, str]:
        """Return what stands before, between and behind the keys that are written, and at each."""
        style = self.style
        return {
            **{"before": style.before, "between": style.between, "behind": style.behind},
            "sign": style.of_key("k").removesuffix("k"),
        }


def among(
    source: SourceText, items: Sequence[tuple[int, int, str]], end: int, style: Style
) -> Site:
    """Return the site in a list of keys: its placeholders, else the place behind the last key.

    :param items: (start, end, key) of each in the text.
    :param end: of the list, where there is no placeholder.
    """
    between = style.between
    holders = [number for number, item in enumerate(items) if is_placeholder(item[2])]
    if not holders:
        is_open = not items or source.text[:end].rstrip().endswith(between.strip())
        before = "" if is_open else between
        return Site(source, end, end, replace(style, before=before, behind=""))
    first, last = holders[0], holders[-1]
    kept = [n for n in range(first, last) if n not in holders]
    behind = "".join(between + source.text[items[n][0] : items[n][1]] for n in kept)
    style = replace(style, before="", behind=behind)
    return Site(source, items[first][0], items[last][1], style)


def site_in_text(source: SourceText, start: int, end: int) -> Site:
    r"""Return the site of a place at [start, end) of a Markdown file or a plain text."""
    found = source.text[start:end]
    command = _COMMAND.search(found)
    if command and "{" in found:
        return site_of_keys(source, start + found.rindex("{") + 1, end - 1, command[1])
    items = [
        (start + key.start(), start + key.end(), key[1] or key[2])
        for key in PANDOC_KEY.finditer(found)
    ]
    if not items:
        return Site(source, start, end, PANDOC)
    if found.startswith("["):
        return among(source, items, end - 1, PANDOC)
    if is_placeholder(items[0][2]):
        return Site(source, *items[0][:2], IN_TEXT)
    return Site(source, start, end, PANDOC, f"{found} is a part of its sentence")


def site_of_keys(source: SourceText, start: int, end: int, command: str) -> Site:
    r"""Return the site of a ``\cite`` whose last keys stand at [start, end)."""
    keys = source.text[start:end]
    if command in NAMING and not is_placeholder(keys):
        return Site(source, start, end, TEX, f"\\{command} names one paper")
    if "%" in keys:
        return Site(source, start, end, TEX, "a comment stands among its keys")
    return among(source, listed_keys(keys, start), end, TEX)


def listed_keys(keys: str, start: int) -> list[tuple[int, int, str]]:
    """Return (start, end, key) of keys between commas.

    :param start: of ``keys`` in the text.
    """
    found = []
    for item in re.finditer(r"[^,]+|(?:^|(?<=,))(?=,|$)", keys):
        key = item[0].strip()
        at = start + item.start() + (len(item[0]) - len(item[0].lstrip()) if key else 0)
        found.append((at, at + len(key) if key else start + item.end(), key))
    return found
