r"""Reader of BibTeX and BibLaTeX: the ``.bib`` files of LaTeX, Zotero, Mendeley, JabRef and DBLP.

pybtex parses the files, and pylatexenc turns LaTeX into text: ``G{\"o}del`` is Gödel. What an
entry lacks comes from its ``crossref``. An abbreviation that no ``@string`` explains stands for
itself.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.raw.exports import Export, ExportReader, read_text, spoken_name
from mpbert.foundation.errors import CorpusError

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

_COMMANDS = re.compile(r"[\\{}~$]|--|``|''")  # a text without any is no LaTeX
_BARE = re.compile(r"(?<!\\)([%&#])")  # in a field of BibTeX they stand for themselves
_DOLLAR = re.compile(r"(?<!\\)\$")
# what pylatexenc leaves out
_SIGNS = {"textless": "<", "textgreater": ">", "textbar": "|", "textquotesingle": "'"}
_VENUES = ("journal", "journaltitle", "booktitle", "howpublished", "school", "institution")
_INHERITED = (*_VENUES, "year", "date")

Fields = dict[str, str]


@READERS.register
class BibtexReader(ExportReader):
    """Reads a file ``.bib`` of BibTeX or BibLaTeX, or a folder of them, with abstracts or not."""

    name = "bibtex"
    suffixes = (".bib",)
    expected = "an entry of BibTeX with a title"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all entries; ``@string``, ``@preamble``, ``@comment`` are none.

        :raises CorpusError: an entry is broken.
        """
        yield from self.exports_in(file, read_text(file))

    def exports_in(self, file: Path, text: str) -> Iterator[tuple[str, Export]]:
        """Yield the same of a text, which is all of a file or has empty lines for what is not read.

        :param file: its name, for messages.
        :raises CorpusError: an entry is broken.
        """
        entries = list(_entries(file, text))
        by_key: dict[str, Fields] = {}
        for _, key, fields in entries:
            by_key.setdefault(key.lower(), fields)
        for place, key, fields in entries:
            parent = by_key.get(fields.get("crossref", "").lower(), {})
            inherited = {name: parent[name] for name in _INHERITED if name in parent}
            if "title" in parent and not inherited.keys() & set(_VENUES):
                inherited["booktitle"] = parent["title"]
            yield place, _export(key, inherited | fields)

    def decoded(self, text: str) -> str:
        """Return the text of LaTeX; formulas stay as they are written."""
        if not _COMMANDS.search(text):
            return text
        text = _BARE.sub(r"\\\1", text)
        if len(_DOLLAR.findall(text)) % 2:  # a price, no formula
            text = _DOLLAR.sub(r"\\$", text)
        return _decoder().latex_to_text(text)


def _entries(file: Path, text: str) -> Iterator[tuple[str, str, Fields]]:
    """Yield (place, key, fields by small names) of all entries; of fields of one name the first.

    :raises CorpusError: one is broken.
    """
    from pybtex.database.input.bibtex import LowLevelParser
    from pybtex.scanner import PybtexSyntaxError

    parser = LowLevelParser(text, macros=_Strings())
    line, counted = 1, 0
    try:
        for command, body in parser:
            line += text.count("\n", counted, parser.command_start)
            counted = parser.command_start
            if command.lower() in ("string", "preamble"):
                continue
            key, found = body
            fields: Fields = {}
            for name, parts in found:
                fields.setdefault(name.lower(), "".join(parts))
            yield f"{file}:{line}: entry {key!r}", key, fields
    except PybtexSyntaxError as error:
        begun = text.count("\n", 0, parser.command_start) + 1
        what = " ".join(str(error.args[0]).split())
        raise CorpusError(
            f"{file}:{error.lineno}: broken entry, which begins on line {begun} ({what}); expected "
            f"BibTeX with balanced braces and a comma after each field: correct the entry"
        ) from error


class _Strings(dict):
    """Abbreviations by small names; an unknown one, or that of a month, stands for itself."""

    def __getitem__(self, name: str) -> str:
        return self.get(name.lower(), name)

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(name.lower(), value)


def _export(key: str, fields: Fields) -> Export:
    venues = (fields[name] for name in _VENUES if fields.get(name))
    title = ": ".join(filter(None, (fields.get("title"), fields.get("subtitle"))))
    return Export(
        key=key,
        title=title,
        abstract=fields.get("abstract", ""),
        year=fields.get("year") or fields.get("date", ""),
        authors=_names(fields.get("author") or fields.get("editor", "")),
        venue=next(venues, ""),
        doi=fields.get("doi", ""),
        files=_files(fields.get("file", "")),
    )


def _files(text: str) -> tuple[str, ...]:
    r"""Return the paths of a field ``file``: alone, or as ``name:path:type``, with ``;`` between.

    Signs with a meaning stand behind ``\\`` where they are part of a path.
    """
    found = []
    for entry in re.split(r"(?<!\\);", text):
        parts = [re.sub(r"\\(.)", r"\1", part) for part in re.split(r"(?<!\\):", entry.strip())]
        path = parts[0] if len(parts) == 1 else ":".join(parts[1:-1])
        found += [path] if path else []
    return tuple(found)


def _names(text: str) -> tuple[str, ...]:
    """Return names in the order of speech: what ``and`` joins, outside of braces."""
    from pybtex.bibtex.utils import split_name_list, split_tex_string

    names = [split_tex_string(name, ",") for name in split_name_list(text)]
    # family; family, given; family, suffix, given
    return tuple(
        spoken_name(family, *reversed(others))
        for family, *others in (parts[:3] for parts in names if parts)
        if (family, others) != ("others", [])
    )


@cache
def _decoder() -> "LatexNodes2Text":
    from pylatexenc.latex2text import (
        LatexNodes2Text,
        MacroTextSpec,
        get_default_latex_context_db,
    )

    known = get_default_latex_context_db()
    signs = [MacroTextSpec(name, sign) for name, sign in _SIGNS.items()]
    known.add_context_category("signs", prepend=True, macros=signs)
    return LatexNodes2Text(known, math_mode="verbatim", strict_latex_spaces=True)
