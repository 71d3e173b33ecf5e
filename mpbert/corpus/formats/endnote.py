"""Reader of EndNote: its XML, which Mendeley, Zotero and JabRef write, too, and its tags.

``.enw`` has lines of a sign behind ``%`` and a value, as Google Scholar and publishers give them.

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
from mpbert.corpus.raw.exports import Export, ExportReader, listed_tags, printed_name, spoken_name
from mpbert.corpus.raw.files import open_file
from mpbert.corpus.raw.identifiers import plain_doi
from mpbert.corpus.raw.names import persons
from mpbert.corpus.raw.tagged_lines import TagForm, Tags, first_of, tagged_records
from mpbert.corpus.raw.text_files import read_text
from mpbert.corpus.raw.values import reading
from mpbert.corpus.raw.xml_records import text_in, xml_records

_KINDS = {  # types of EndNote -> those of RIS
    **{"journal article": "JOUR", "electronic article": "EJOUR", "magazine article": "MGZN"},
    **{"newspaper article": "NEWS", "conference paper": "CPAPER", "conference proceedings": "CONF"},
    **{"book section": "CHAP", "book": "BOOK", "edited book": "EDBOOK", "thesis": "THES"},
    **{"report": "RPRT", "electronic book": "EBOOK", "electronic book section": "ECHAP"},
}
_FORM = TagForm(
    line=re.compile(r"%(\S)(?: (.*))?$"),
    first="0",
    last="",
    expected="'%0 ' and a type, such as %0 Journal Article",
)
_KEY = re.compile(r"[A-Za-z][\w:.+/-]*\d[\w:.+/-]*")  # a label that is one to cite by


@READERS.register
class EndnoteReader(ExportReader):
    """Reads ``.xml`` or ``.enw`` of EndNote, or a folder of such files."""

    name = "endnote"
    suffixes = (".xml", ".enw")
    expected = "a record of EndNote with a title"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all records.

        :raises CorpusError: the file is broken.
        """
        with open_file(file) as opened:
            is_xml = opened.read(99).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
        if not is_xml:
            for place, tags in tagged_records(file, read_text(file), _FORM, self.noted):
                yield place, _of_tags(tags)
            return
        keys: set[str] = set()
        for place, record in xml_records(file, ("record", "RECORD")):
            with reading(place, self.expected):
                export = _export(record)
            yield place, replace(export, key="") if export.key in keys else export
            keys.add(export.key)


def _of_tags(tags: Tags) -> Export:
    names = tags.get("A") or tags.get("E") or ()
    kind = first_of(tags, ("0",)).lower()
    return Export(
        key=key if _KEY.fullmatch(key := first_of(tags, ("F",))) else "",
        title=first_of(tags, ("T",)),
        abstract=first_of(tags, ("X",)),
        year=first_of(tags, ("D", "8")),
        authors=tuple(spoken_name(*n.split(",", 2)) for name in names for n in persons(name)),
        venue=first_of(tags, ("J", "B", "I")),
        doi=first_of(tags, ("R",)) or plain_doi(first_of(tags, ("U",))),
        kind=kind_of(_KINDS.get(kind, "")),
        volume=first_of(tags, ("V",)),
        number=first_of(tags, ("N",)),
        pages=first_of(tags, ("P",)),
        publisher=first_of(tags, ("I",)),
        tags=listed_tags(*tags.get("K", ())),
    )


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
        authors=tuple(map(printed_name, names)),
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
    found: list[str] = []
    for author in record.findall(role):
        text = "".join(author.itertext()).replace("\r", "\n")
        listed = persons(text)
        found += listed if len(listed) > 1 else text.split("\n")
    return [name.strip() for name in found if name.strip(" ,")]


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
