r"""Reader of BibTeX and BibLaTeX: the ``.bib`` files of LaTeX, Zotero, Mendeley, JabRef and DBLP.

pybtex parses the files, and pylatexenc turns LaTeX into text: ``G{\"o}del`` is Gödel. What an
entry lacks comes from its ``crossref``. An abbreviation that no ``@string`` explains stands for
itself. ``%`` begins a comment between fields, and between entries at the beginning of a line, as
biber has it.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.raw.bibtex_entries import in_comment
from mpbert.corpus.raw.exports import Export, ExportReader, listed_tags, spoken_name
from mpbert.corpus.raw.names import GROUP
from mpbert.corpus.raw.text_files import read_text
from mpbert.foundation.errors import CorpusError

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

_COMMANDS = re.compile(r"[\\{}~$]|--|``|''")  # a text without any is no LaTeX
_BARE = re.compile(r"(?<!\\)([%&#])")  # in a field of BibTeX they stand for themselves
_DOLLAR = re.compile(r"(?<!\\)\$")
# what pylatexenc leaves out
_SIGNS = {"textless": "<", "textgreater": ">", "textbar": "|", "textquotesingle": "'"}
_SIGNS |= {"slash": "/", "TeX": "TeX", "LaTeX": "LaTeX", "BibTeX": "BibTeX"}
# an address, a word to sort by, a brace that balances another
_UNSEEN = re.compile(r"\\(?:href|noopsort)\s*\{[^{}]*\}|\\vphantom\s*(?:\{\\[{}]\}|\\[{}])")
_VENUES = ("journal", "journaltitle", "booktitle", "howpublished", "school", "institution")
_BEGINNING = re.compile(r"^[ \t]*@[ \t]*\w+[ \t]*[{(]", re.MULTILINE)  # of an entry
_INHERITED = (*_VENUES, "year", "date", "publisher", "volume")
_PARTS = ("book", "inbook", "mvbook", "bookinbook", "suppbook")  # of one author's book
_KIND = re.compile(r"[a-z]+")
_EMPTY = re.compile(r"^(?:and\s+)+|(?<=\sand)(?:\s+and)+(?=\s)", re.IGNORECASE)
_LAST = re.compile(r"(?:\s+and)+$", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([_%&#])")  # in a DOI, as publishers write it

Fields = dict[str, str]


@READERS.register
class BibtexReader(ExportReader):
    """Reads a file ``.bib`` of BibTeX or BibLaTeX, or a folder of them, with abstracts or not."""

    name = "bibtex"
    suffixes = (".bib",)
    expected = "an entry of BibTeX with a title"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all entries; ``@string``, ``@preamble``, ``@comment`` are none.

        A broken entry is left out, and noted in ``problems``.
        """
        text = self.texts.get(file)
        yield from self.exports_in(file, read_text(file) if text is None else text)

    def exports_in(self, file: Path, text: str) -> Iterator[tuple[str, Export]]:
        """Yield the same of a text, which is all of a file or has empty lines for what is not read.

        :param file: its name, for messages.
        """
        for line, record, _ in self.entries_in(file, text):
            yield f"{file}:{line}: entry {record.key!r}", record

    def entries_in(self, file: Path, text: str) -> Iterator[tuple[int, Export, Fields]]:
        """Yield (line from 1, record, fields as they are written) of the same entries."""
        entries = list(_entries(file, text, self.problems))
        by_key: dict[str, Fields] = {}
        for _, _, key, fields in entries:
            by_key.setdefault(key.lower(), fields)
        by_key.pop("", None)
        for line, kind, key, fields in entries:
            parent = by_key.get(fields.get("crossref", "").lower(), {})
            names = (*_INHERITED, "author") if kind in _PARTS else _INHERITED
            inherited = {name: parent[name] for name in names if name in parent}
            if "title" in parent and not inherited.keys() & set(_VENUES):
                inherited["booktitle"] = parent["title"]
            yield line, _export(kind, key, inherited | fields), fields

    def decoded(self, text: str) -> str:
        """Return the text of LaTeX; formulas stay as they are written."""
        if not _COMMANDS.search(text):
            return text
        text = _BARE.sub(r"\\\1", _UNSEEN.sub("", text))
        if len(_DOLLAR.findall(text)) % 2:  # a price, no formula
            text = _DOLLAR.sub(r"\\$", text)
        return _decoder().latex_to_text(text)


def _entries(
    file: Path, text: str, problems: list[CorpusError]
) -> Iterator[tuple[int, str, str, Fields]]:
    """Yield (line, type, key, fields by small names) of all entries that are not broken.

    Of fields of one name the first counts. A key may be empty.

    :param problems: receives what is wrong with each broken entry, which ends at the next line that
        begins one.
    """
    from pybtex.database.input.bibtex import LowLevelParser, SkipEntry
    from pybtex.scanner import Pattern, PybtexSyntaxError

    parser = LowLevelParser(text, macros=_Strings())
    parser.WHITESPACE = Pattern(r"(?:\s|%[^\r\n]*)+", "white space")
    parser.KEY_BRACE = Pattern(r"[^\s,}]+|(?=,)", "entry key")
    parser.KEY_PAREN = Pattern(r"[^\s,]+|(?=,)", "entry key")
    line, counted = 1, 0
    while parser.skip_to([parser.AT]):
        parser.command_start = start = parser.pos - 1
        if in_comment(text, start):
            continue
        line, counted = line + text.count("\n", counted, start), start
        try:
            command, body = parser.parse_command()
        except SkipEntry:  # a comment
            continue
        except PybtexSyntaxError as error:
            problems.append(_broken(file, line, error))
            following = _BEGINNING.search(text, start + 1)
            parser.pos = following.start() if following else len(text)
            parser.lineno = line + text.count("\n", start, parser.pos)
            continue
        if command.lower() not in ("string", "preamble"):
            key, found = body
            fields: Fields = {}
            for name, parts in found:
                fields.setdefault(name.lower(), " ".join("".join(parts).split()))
            yield line, command.lower(), key, fields


def _broken(file: Path, begun: int, error: Any) -> CorpusError:
    what = " ".join(str(error.args[0]).split())
    return CorpusError(
        f"{file}:{error.lineno}: broken entry, which begins on line {begun} ({what}); expected "
        f"BibTeX with balanced braces and a comma after each field: correct the entry"
    )


class _Strings(dict):
    """Abbreviations by small names; an unknown one, or that of a month, stands for itself."""

    def __getitem__(self, name: str) -> str:
        return self.get(name.lower(), name)

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(name.lower(), value)


def _export(kind: str, key: str, fields: Fields) -> Export:
    venues = (fields[name] for name in _VENUES if fields.get(name))
    title = ": ".join(filter(None, (fields.get("title"), fields.get("subtitle"))))
    return Export(
        key=key,
        title=title,
        abstract=fields.get("abstract", ""),
        year=_UNSEEN.sub("", fields.get("year") or fields.get("date", "")),
        authors=_names(fields.get("author") or fields.get("editor", "")),
        venue=next(venues, ""),
        doi=_ESCAPED.sub(
            r"\1", fields.get("doi", "").replace("/ ", "/") or _linked(fields.get("url", ""))
        ),
        files=_files(fields.get("file", "")),
        kind=kind if _KIND.fullmatch(kind) else "",
        volume=fields.get("volume", ""),
        number=fields.get("number") or fields.get("issue", ""),
        pages=fields.get("pages", ""),
        publisher=fields.get("publisher", ""),
        tags=listed_tags(*(fields.get(n, "") for n in ("keywords", "keyword", "mendeley-tags"))),
        collections=listed_tags(fields.get("groups", "")),
    )


def _linked(url: str) -> str:
    """Return the address of a DOI; empty for another one."""
    return url if "doi.org/10." in url else ""


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

    text = _EMPTY.sub(" ", text)
    listed = split_name_list(text if GROUP.search(text) else _LAST.sub("", text))
    names = [split_tex_string(name, ",") for name in listed]
    # family; family, given; family, suffix, given
    return tuple(
        spoken_name(family, *reversed(others))
        for family, *others in (parts[:3] for parts in names if parts)
        if (family.lower(), others) != ("others", [])
    )


@cache
def _decoder() -> "LatexNodes2Text":
    from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

    known = get_default_latex_context_db()
    signs = [MacroTextSpec(name, sign) for name, sign in _SIGNS.items()]
    known.add_context_category("signs", prepend=True, macros=signs)
    known.set_unknown_macro_spec(MacroTextSpec("", discard=False))  # of \texttt what is set so
    return LatexNodes2Text(known, math_mode="verbatim", strict_latex_spaces=True)
