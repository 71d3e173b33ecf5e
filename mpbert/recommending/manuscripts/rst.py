r"""Manuscripts in reStructuredText: ``:cite:`key``` of sphinxcontrib-bibtex, and ``[Key]_``.

Left out are comments, directives that print no text, literal blocks, formulas and headings without
a citation. Citations that the text prints itself, ``.. [Key] Author: Title``, are its references.
"""

import re
from dataclasses import replace
from pathlib import Path

from mpbert.recommending.manuscripts.light import HEADING, paragraphs
from mpbert.recommending.manuscripts.marks import (
    NOUN,
    Found,
    Marks,
    find_places,
    mark_found,
    masked,
    plain_characters,
)
from mpbert.recommending.manuscripts.sentences import About, Draft
from mpbert.recommending.manuscripts.sites import (
    RST,
    Site,
    Style,
    among,
    listed_keys,
    site_in_text,
)
from mpbert.recommending.manuscripts.source_text import SourceText

_PRINTING = frozenset(  # directives whose body is text
    "note warning attention caution danger error hint important tip admonition seealso figure "
    "table list-table sidebar topic epigraph highlights pull-quote compound container rubric "
    "abstract versionadded versionchanged deprecated todo card dropdown tab-item grid".split()
)
_EXPLICIT = re.compile(r"([ \t]*)\.\.(?:[ \t]+(.*))?$")
_DIRECTIVE = re.compile(r"(?:\|[^|]+\|[ \t]+)?([\w:.+-]+)::(.*)")
_REFERENCE = re.compile(r"\[([^\[\]]+)\][ \t]*(.*)")
_OPTION = re.compile(r"[ \t]*:[\w -]+:([ \t].*)?$")
_RULE = re.compile(r"([=\-`:.'\"~^_*+#<>])\1{2,}[ \t]*$")
_LITERAL = re.compile(
    r"``.+?``|(?<!\w):(?!(?:foot)?cite)[\w:+.-]+:`[^`]+`|(?<![:`\w])`[^`\n]+`_{0,2}|https?://\S+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
)
_ROLE = re.compile(r":((?:foot)?cite[a-z]{0,12}(?::[a-z]{1,12})?):`([^`<>]{0,2000})`")
_NOUN_ROLES = ("t", "ts", "ct", "cts", "citet", "author", "authors")
_KEYED = re.compile(r"\[([A-Za-z][\w.:+-]*)\]_(?!\w)")
_CONFIGURED = re.compile(r"bibtex_bibfiles\s*=\s*\[([^\]]*)\]")
_CODE = re.compile(r"``.*?``")
_ROLES = re.compile(r":[\w:+.-]+:`([^`<]*?)(?:[ ]?<[^<>]*>)?`")
_TEXT = re.compile(r"`([^`<]+?)(?:[ ]<[^<>]*>)?`_{0,2}|\[[#*]?[\w-]*\]_|\|([^|\n]+)\|_{0,2}")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(?=\S)([^*\n]{1,300}?)(?<=\S)\1(?![\w*])")
_WITH_BRACKETS = Style(" [", "]_ [", "]_")


def read_rst(source: SourceText) -> Draft:
    """Return the draft in a file of reStructuredText."""
    text, marks = plain_characters(source.text), Marks()
    lines = _Lines(text)
    literal = [*lines.dropped, *(match.span() for match in _LITERAL.finditer(text))]
    marked = mark_found(text, marks, _found(source, masked(text, _apart(literal))))
    body = _Lines(marked)
    kept = _CODE.sub("", paragraphs("\n".join(body.kept)))
    plain = _TEXT.sub(lambda found: found[1] or found[2] or "", _ROLES.sub(r"\1", kept))
    about = About(tuple(lines.files) or _configured(source.path), lines.printed)
    return Draft(_EMPHASIS.sub(r"\2", plain), marks, body.title, "", about)


class _Lines:
    """The lines of a text, block by block.

    :ivar kept: lines of sentences and headings.
    :ivar dropped: [start, end) of the others, in which nothing cites.
    :ivar printed: references that the text prints: key -> text.
    :ivar files: bibliographies that it names.
    """

    def __init__(self, text: str) -> None:
        self.title, self.kept, self.files = "", [""], []
        self.dropped: list[tuple[int, int]] = []
        self.printed: dict[str, str] = {}
        self._depth = -1  # a block that is left out lasts while lines are indented more
        self._opens_literal, self._literal_depth = False, 0
        place = 0
        for line in text.split("\n"):
            if not self._keep(line):
                self.dropped.append((place, place + len(line)))
            place += len(line) + 1

    def _keep(self, line: str) -> bool:
        depth = len(line) - len(line.lstrip())
        if not line.strip():
            self.kept.append("")
            return True
        if depth > self._depth >= 0:
            return False
        self._depth = -1
        if self._opens_literal and depth > self._literal_depth:
            self._depth, self._opens_literal = self._literal_depth, False
            return False
        self._opens_literal = False
        if _RULE.match(line):
            self._end_heading()
            return True
        if explicit := _EXPLICIT.match(line):
            return self._explicit(depth, explicit[2] or "")
        if _OPTION.match(line):
            return False
        if line.rstrip().endswith("::"):
            self._opens_literal, self._literal_depth = True, depth
            line = line.rstrip()[:-1]
        self.kept.append(line)
        return True

    def _end_heading(self) -> None:
        if not self.kept[-1].strip():
            return
        heading = self.kept.pop()
        if not self.title:
            self.title = heading.strip()
        else:
            self.kept += ["", HEADING + heading.strip(), ""]

    def _explicit(self, depth: int, said: str) -> bool:
        """Read the first line of a directive, a reference or a comment."""
        self._depth = depth
        self.kept.append("")
        if directive := _DIRECTIVE.match(said):
            name, argument = directive[1], directive[2].strip()
            if name in ("bibliography", "footbibliography"):
                self.files += argument.split()
            elif name.rpartition(":")[2] in _PRINTING:
                self._depth = -1
                self.kept += ["", argument if name != "figure" else "", ""]
                return True
        elif reference := _REFERENCE.match(said):
            if reference[1][0].isalpha():
                self.printed[reference[1]] = reference[2]
            else:
                self._depth = -1
                self.kept.append(reference[2])
                return True
        return False


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, without those that begin within another."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _configured(path: Path) -> tuple[str, ...]:
    """Return the files that Sphinx's ``conf.py`` names, from the folder of the manuscript."""
    for folder in list(path.absolute().parents)[:4]:
        file = folder / "conf.py"
        if file.is_file():
            listed = _CONFIGURED.search(file.read_text("utf-8", "replace"))
            names = re.findall(r"[\"']([^\"']+)[\"']", listed[1]) if listed else []
            return tuple(str(folder / name) for name in names)
    return ()


def _found(source: SourceText, text: str) -> list[tuple[Found, Site | None]]:
    found: list[tuple[Found, Site | None]] = []
    for match in _ROLE.finditer(text):
        items = listed_keys(match[2], match.start(2))
        keys = tuple(key for _, _, key in items if key)
        noun = NOUN if match[1].rpartition(":")[2] in _NOUN_ROLES else ""
        found.append((Found(*match.span(), keys, noun), among(source, items, match.end(2), RST)))
    for match in _KEYED.finditer(text):
        items = [(*match.span(1), match[1])]
        site = among(source, items, match.end(), _WITH_BRACKETS)
        if site.start == match.end():  # behind it
            site = replace(site, style=_WITH_BRACKETS)
        found.append((Found(*match.span(), (match[1],)), site))
    for one in find_places(text):
        site = site_in_text(source, one.start, one.end)
        is_open = not one.keys and not text[one.start : one.end].startswith("\\")
        found.append((one, replace(site, style=RST) if is_open else site))
    return found
