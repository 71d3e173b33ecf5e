"""Reader of tables of papers: CSV of Scopus, Zotero, PubMed, IEEE Xplore, Dimensions, and your own.

Columns are known by their names, whatever else the table has. Commas, semicolons or tabs stand
between them. A folder with ``papers.csv`` is read as ``csv``.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.published import kind_of, page_range
from mpbert.corpus.raw.exports import Export, ExportReader, listed_tags, printed_name
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.names import INITIALS_LAST, persons
from mpbert.corpus.raw.text_files import read_text
from mpbert.foundation.errors import CorpusError

_LONGEST_FIELD = 1 << 27  # characters, as that of other tables
_LINES = 20  # in which the names of columns stand; databases have notes above them
_COLUMNS = {  # field -> names of its column as _plain_name has them, the best first
    "key": ("paper id", "citation key", "citationkey", "bibtex key"),
    "title": ("title", "document title", "article title", "paper title", "title primary", "ti"),
    "abstract": ("abstract", "abstract note", "summary", "ab"),
    "year": (
        *("year", "publication year", "published year", "pub year", "pubyear", "py", "date"),
        *("publication date", "date published", "cover date"),
    ),
    "authors": (
        *("author full names", "authors", "author", "author names", "authors primary"),
        *("authorships author display name", "af", "au"),
    ),
    "venue": (
        *("source title", "publication title", "journal book", "journal", "venue", "booktitle"),
        *("book title", "journal title", "periodical full", "so"),
        *("primary location source display name", "conference name"),
    ),
    "doi": ("doi", "di"),
    "kind": ("document type", "item type", "publication type", "type", "reference type", "dt"),
    "volume": ("volume", "biblio volume", "vl"),
    "number": ("issue", "issue number", "number", "biblio issue", "is"),
    "pages": ("pages", "pagination", "ar", "art no"),
    "first": ("bp", "page start", "start page", "first page", "biblio first page"),
    "last": ("ep", "page end", "end page", "last page", "biblio last page"),
    "publisher": ("publisher", "book publisher", "pu"),
    "tags": ("author keywords", "keywords", "tags", "manual tags", "de"),
    "pubmed": ("pmid", "pubmed id", "pm"),
    "files": ("file attachments",),
}
_KINDS = {  # types of Scopus, Zotero and IEEE Xplore -> those of CSL
    **{"article": "article-journal", "review": "article-journal", "letter": "article-journal"},
    **{"journalarticle": "article-journal", "ieee journals": "article-journal"},
    **{"conferencepaper": "paper-conference", "conference paper": "paper-conference"},
    **{"ieee conferences": "paper-conference", "proceedings paper": "paper-conference"},
    **{"book chapter": "chapter", "booksection": "chapter", "book": "book", "thesis": "thesis"},
    **{"report": "report", "preprint": "preprint", "webpage": "webpage"},
}
_PLURAL = re.compile(r"/s\b|\(s\)")  # of "Author/s", "Author(s)"
_SIGNS = re.compile(r"[\W_]+")
_NUMBERED = re.compile(r"\s*\(\d+\)")  # an author of Scopus
_INITIALS_ALONE = re.compile(r"(?:[^\W\d_]{1,2}\.-?\s?)+")
_NOBODY = ("[no author name available]", "et al.", "et al", "...")

Row = dict[str, str]


@READERS.register
class SpreadsheetReader(ExportReader):
    """Reads a table ``.csv`` or ``.tsv`` that has a column of titles, or a folder of them."""

    name = "spreadsheet"
    suffixes = (".csv", ".tsv")
    expected = "rows of a table whose first line names the columns"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all rows.

        :raises CorpusError: no column holds titles, or the table is broken.
        """
        csv.field_size_limit(_LONGEST_FIELD)
        text = read_text(file)
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
        fields: dict[str, int] = {}
        try:
            for row in rows:
                if fields and any(row):
                    found = {name: row[n].strip() for name, n in fields.items() if n < len(row)}
                    yield f"{file}:{rows.line_num}", _export(found)
                elif not fields:
                    fields = _fields(row)
        except csv.Error as error:
            raise CorpusError(
                f"{file}:{rows.line_num}: broken row ({error}); expected {self.expected}: "
                f"correct the table"
            ) from error
        if not fields:
            raise CorpusError(
                f"{file}:1: found no column of titles; expected one called title, and where known "
                f"authors, year, abstract and doi: name the columns in the first line"
            )


def columns_in(text: str) -> set[str]:
    """Return what the columns of a table hold, from its first lines; nothing without titles."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        return set(next(filter(None, map(_fields, itertools.islice(rows, _LINES))), {}))
    except csv.Error:
        return set()


def _fields(names: Sequence[str]) -> dict[str, int]:
    """Return the column of each field that a table has; none where no column holds titles."""
    place = {_plain_name(name): n for n, name in reversed(list(enumerate(names)))}
    found = {}
    for field, known in _COLUMNS.items():
        if name := next(filter(place.__contains__, known), None):
            found[field] = place[name]
    return found if "title" in found else {}


def _plain_name(name: str) -> str:
    """Return the name of a column in small letters, without signs."""
    return _SIGNS.sub(" ", _PLURAL.sub("", name.lower())).strip()


def _delimiter(text: str) -> str:
    """Return what stands between the columns: what gives most known ones, a comma by default."""
    lines = "\n".join(text.split("\n", _LINES)[:_LINES]).replace("\r", "")

    def known(sign: str) -> int:
        rows = csv.reader(lines.split("\n"), delimiter=sign)
        try:
            return max((len(_fields(row)) for row in rows), default=0)
        except csv.Error:
            return 0

    return max(",;\t", key=known)


def _export(row: Row) -> Export:
    def of(name: str) -> str:
        return row.get(name, "")

    kind = of("kind").split(";")[0].strip().lower()
    return Export(
        key=of("key"),
        title=of("title"),
        abstract="" if of("abstract") == "[No abstract available]" else of("abstract"),
        year=of("year"),
        authors=tuple(authors_of(of("authors"))),
        venue=of("venue"),
        doi=of("doi"),
        files=tuple(filter(None, map(str.strip, of("files").split(";")))),
        kind=kind_of(_KINDS.get(kind, kind)),
        volume=of("volume"),
        number=of("number"),
        pages=page_range(of("first"), of("last")) or of("pages"),
        publisher=of("publisher"),
        tags=listed_tags(of("tags")),
        known=Identifiers(pubmed=of("pubmed")),
    )


def authors_of(text: str) -> list[str]:
    """Return the names in a cell, in the order of speech.

    They are separated by semicolons or bars, by "and", or by commas: where initials stand behind
    family names, with a comma between them or not, or where each name has two words.
    """
    text = _NUMBERED.sub("", text)
    parts: Sequence[str] = text.split("|" if "|" in text else ";")
    if len(parts) == 1:
        parts = persons(text) if " and " in text else _parted(text.split(","))
    names = (part.strip(" ,") for part in parts)
    return [printed_name(name) for name in names if name and name.lower() not in _NOBODY]


def _parted(pieces: Sequence[str]) -> list[str]:
    """Return the names that stand between commas: ``["A", "B.", "C", "D."]`` are two."""
    pieces = [piece.strip() for piece in pieces]
    if any(map(_INITIALS_ALONE.fullmatch, pieces)):
        names: list[str] = []
        for piece in pieces:
            if names and _INITIALS_ALONE.fullmatch(piece):
                names[-1] += f", {piece}"
            else:
                names.append(piece)
        return names
    with_initials = sum(map(bool, map(INITIALS_LAST.fullmatch, pieces)))
    if with_initials >= max(2, len(pieces) - 1) or all(" " in piece for piece in pieces):
        return pieces
    return [", ".join(pieces)]
