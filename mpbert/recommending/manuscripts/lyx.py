r"""Manuscripts of LyX: its layouts are paragraphs, and its citation insets are places.

A new citation becomes an inset of LyX. Left out are insets of code, formulas, tables without a
citation, labels and notes of LyX itself; footnotes and captions stand apart. Files of LyX that it
includes are read in their places.
"""

import logging
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError, listed
from mpbert.recommending.manuscripts.citation_commands import TEXTUAL
from mpbert.recommending.manuscripts.marks import (
    MARK,
    NOUN,
    Found,
    Marks,
    find_places,
    mark_found,
    masked,
    plain_characters,
)
from mpbert.recommending.manuscripts.sentences import About, Draft
from mpbert.recommending.manuscripts.sites import Site, Style, among, listed_keys
from mpbert.recommending.manuscripts.source_text import SourceText, read_beside

logger = logging.getLogger(__name__)

_MOST_FILES = 200
_BODY = "\\begin_body"
_INCLUDED = "\\included "  # begins a line that names a file
_INCLUDE = re.compile(
    r"^\\begin_inset CommandInset include\s*\nLatexCommand (?:include|input)\s*\n"
    r"(?:preview.*\n)?filename \"([^\"\n]+)\"(?:(?!\\end_inset).*\n){0,20}?\\end_inset[ ]*$",
    re.MULTILINE,
)
_CITATION = re.compile(
    r"^\\begin_inset CommandInset citation\s*\nLatexCommand (\w+)\*?\s*\n"
    r"(?:(?!\\end_inset).*\n)*?key \"([^\"\n]*)\"\s*\n(?:(?!\\end_inset).*\n)*?\\end_inset[ ]*$",
    re.MULTILINE,
)
_INSET = Style(
    '\n\\begin_inset CommandInset citation\nLatexCommand cite\nkey "',
    ",",
    '"\nliteral "false"\n\n\\end_inset\n\n',
)
_KEYS = replace(_INSET, before="", behind="")
_FILES = re.compile(r'^bibfiles "([^"\n]*)"', re.MULTILINE)
_DROPPED = re.compile(
    r"\\begin_inset (?:Formula|Graphics|CommandInset|Quotes|External|listings|Note|Info|ERT|IPA"
    r"|space|VSpace|Newline|Newpage|Separator|Argument|Index|Nomenclature)"
)
_LITERAL = re.compile(
    r"^\\begin_inset (?:Formula|listings|Note|ERT|CommandInset (?!citation)).*?^\\end_inset"
    r"|\A.*?^\\begin_body",
    re.DOTALL | re.MULTILINE,
)
_LAYOUT = re.compile(r"\\begin_layout[ ]?(.*)")
_HEADING = re.compile(r"(?:Part|Chapter|(?:Sub)*section|(?:Sub)?paragraph)\*?\Z", re.IGNORECASE)
_ABOUT = ("Title", "Abstract", "Author", "Date", "Address", "Institute", "Bibliography")
_SIGNS = {"ldots": "...", "nobreakdash-": "-", "breakableslash": "/", "endofsentence": "."}
_STATUS = re.compile(
    r"(?:status|placement|wide|sideways|options|width|special|position|alignment) "
)


def read_lyx(source: SourceText) -> Draft:
    """Return the draft in a file of LyX.

    :raises ManuscriptError: it is none.
    """
    reader = _LyxReader(source)
    found = reader.read(source)
    title, abstract = (
        " ".join(said for layout, said in found if layout == kind) for kind in ("Title", "Abstract")
    )
    body = [
        said
        for layout, said in found
        if layout not in _ABOUT and (not _HEADING.match(layout) or MARK.search(said))
    ]
    reader.warn()
    about = About(tuple(dict.fromkeys(reader.files)))
    return Draft("\n\n".join(body), reader.marks, title, abstract, about)


class _LyxReader:
    """Reads a file of LyX, and those of LyX that it includes.

    :ivar files: of references that they name.
    """

    def __init__(self, main: SourceText) -> None:
        self.marks, self.files = Marks(), list[str]()
        self._main, self._left_out, self._num_read = main, list[str](), 0

    def read(self, source: SourceText, opened: tuple[Path, ...] = ()) -> list[tuple[str, str]]:
        """Return (layout, text) of each paragraph.

        :param opened: files that include this one.
        """
        text = plain_characters(source.text)
        if _BODY not in text:
            raise ManuscriptError(f"{source.path}: holds no \\begin_body; expected a file of LyX")
        self._num_read += 1
        self.files += [name for names in _FILES.findall(text) for name in names.split(",")]
        literal = [match.span() for match in _LITERAL.finditer(text)]
        marked = mark_found(text, self.marks, _found(source, masked(text, literal)))
        body = _INCLUDE.sub(rf"\{_INCLUDED}\1", marked.partition(_BODY)[2])
        opened = (*opened, source.path.resolve())

        def included(name: str) -> list[tuple[str, str]]:
            if not name.lower().endswith(".lyx") or self._num_read >= _MOST_FILES:
                self._left_out.append(name)
                return []
            inner = read_beside(self._main, source, name)
            if inner is None or inner.path.resolve() in opened:
                return []
            if _BODY not in inner.text:
                self._left_out.append(name)
                return []
            return [each for each in self.read(inner, opened) if each[0] != "Title"]

        return _paragraphs(body, included)

    def warn(self) -> None:
        """Say in one line which included files were left out, if any were."""
        number = len(self._left_out)
        if number:
            logger.warning(
                "%s: %d included %s left out, since only files of LyX are read, %d at most: %s",
                *(self._main.path, number, "file was" if number == 1 else "files were"),
                *(_MOST_FILES, listed(self._left_out)),
            )


def _paragraphs(
    text: str, included: Callable[[str], list[tuple[str, str]]]
) -> list[tuple[str, str]]:
    """Return (layout, text) of each paragraph; one within an inset stands before that around it.

    :param included: from the name of a file to its paragraphs.
    """
    found: list[tuple[str, str]] = []
    opened: list[tuple[str, list[str]]] = []
    left_out = 0  # insets that are open, from one whose text is no text on
    for line in text.split("\n"):
        words = opened[-1][1] if opened else []
        if left_out:
            left_out += line.startswith("\\begin_inset") - line.startswith("\\end_inset")
        elif line.startswith(_INCLUDED):
            found += included(line.removeprefix(_INCLUDED))
        elif _DROPPED.match(line):
            left_out = 1
            words.append('"' if " Quotes " in line else " " if " space " in line else "")
        elif layout := _LAYOUT.match(line):
            opened.append((layout[1].strip(), []))
        elif line.startswith("\\end_layout") and opened:
            kind, said = opened.pop()
            found.append((kind, "".join(said)))
        elif line.startswith(("\\SpecialChar", "\\backslash")):
            words.append(_SIGNS.get(line.split()[-1], "\\" if line[1] == "b" else ""))
        elif not line.startswith(("\\", "<", "#")) and not _STATUS.match(line):
            words.append(line)
    return found


def _found(source: SourceText, text: str) -> list[tuple[Found, Site | None]]:
    found: list[tuple[Found, Site | None]] = []
    for match in _CITATION.finditer(text):
        items = listed_keys(match[2], match.start(2))
        keys = tuple(key for _, _, key in items if key)
        noun = NOUN if match[1] in TEXTUAL else ""
        is_place = match[1] != "nocite"
        one = Found(*match.span(), keys, noun, is_place)
        found.append((one, among(source, items, match.end(2), _KEYS)))
    for one in find_places(text):
        if not one.keys and text[one.start] != "\\":
            found.append((one, Site(source, one.start, one.end, _INSET)))
    return found
