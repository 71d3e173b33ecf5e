"""Reader of EndNote XML: exports of EndNote, and of Mendeley, Zotero and JabRef in its form.

Any text may be split into pieces of one style each. PDF files are those of the library's folder
``.Data`` beside the export. EndNote 7 and earlier wrote the same with other tags, in capitals. A
label that looks like a key and that no record before has is the key.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.published import kind_of
from mpbert.corpus.raw.exports import Export, ExportReader, spoken_name
from mpbert.corpus.raw.values import reading
from mpbert.corpus.raw.xml_records import text_in, xml_records

_KINDS = {  # types of EndNote -> those of RIS
    **{"journal article": "JOUR", "electronic article": "EJOUR", "magazine article": "MGZN"},
    **{"newspaper article": "NEWS", "conference paper": "CPAPER", "conference proceedings": "CONF"},
    **{"book section": "CHAP", "book": "BOOK", "edited book": "EDBOOK", "thesis": "THES"},
    **{"report": "RPRT", "electronic book": "EBOOK", "electronic book section": "ECHAP"},
}
_KEY = re.compile(r"[A-Za-z][\w:.+/-]*\d[\w:.+/-]*")  # a label that is one to cite by


@READERS.register
class EndnoteReader(ExportReader):
    """Reads ``.xml`` of EndNote, or a folder of such files."""

    name = "endnote"
    suffixes = (".xml",)
    expected = "a <record> of EndNote with a title"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all records.

        :raises CorpusError: the file is broken.
        """
        keys: set[str] = set()
        for place, record in xml_records(file, ("record", "RECORD")):
            with reading(place, self.expected):
                export = _export(record)
            yield place, replace(export, key="") if export.key in keys else export
            keys.add(export.key)


def _export(record: Element) -> Export:
    def text(*paths: str) -> str:
        return next(filter(None, (text_in(record.find(path)) for path in paths)), "")

    kind = record.find("ref-type")
    roles = (
        "contributors/authors/author",
        "AUTHORS/AUTHOR",
        "contributors/secondary-authors/author",
    )
    names = next(filter(None, (_names(record, role) for role in roles)), [])
    label = text("label", "LABEL")
    venues = "periodical/full-title", "titles/secondary-title", "alt-periodical/full-title"
    return Export(
        key=label if _KEY.fullmatch(label) else "",
        title=text("titles/title", "TITLE"),
        abstract=text("abstract", "ABSTRACT"),
        year=text("dates/year", "dates/pub-dates/date", "YEAR"),
        authors=tuple(spoken_name(*name.split(",", 2)) for name in names),
        venue=text(*venues, "SECONDARY_TITLE", "publisher"),
        doi=text("electronic-resource-num", "DOI"),
        files=tuple(_files(record)),
        kind="" if kind is None else kind_of(_KINDS.get(kind.get("name", "").lower(), "")),
        volume=text("volume", "VOLUME"),
        number=text("number", "issue", "NUMBER"),
        pages=text("pages", "PAGES"),
        publisher=text("publisher", "PUBLISHER"),
        tags=tuple(map(text_in, (*record.iter("keyword"), *record.iter("KEYWORD")))),
    )


def _names(record: Element, role: str) -> list[str]:
    """Return the names of a role; a line end within an element stands between two of them."""
    found = record.findall(role)
    lines = ("".join(author.itertext()).replace("\r", "\n").split("\n") for author in found)
    return [name.strip() for of_author in lines for name in of_author if name.strip(" ,")]


def _files(record: Element) -> Iterator[str]:
    """Yield the paths of attached files, those of the library by its name."""
    database = record.find("database")
    library = text_in(database).removesuffix(".enl") if database is not None else ""
    for url in record.findall("urls/pdf-urls/url"):
        path = text_in(url)
        if path.startswith("internal-pdf://"):
            yield f"{library}.Data/PDF/{path.removeprefix('internal-pdf://')}"
        else:
            yield path.removeprefix("file://")
