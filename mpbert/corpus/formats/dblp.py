"""Reader of DBLP: its dump ``dblp.xml``, the page of an author or of a record as XML.

Keys are those of DBLP's BibTeX, such as ``DBLP:journals/cacm/Knuth74``. Pages of authors, which the
dump holds as records, are left out.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.raw.exports import Export, ExportReader
from mpbert.corpus.raw.values import reading
from mpbert.corpus.raw.xml_records import text_in, xml_records

_KINDS = {
    **{name: name for name in ("article", "inproceedings", "proceedings", "book")},
    **{name: name for name in ("incollection", "phdthesis", "mastersthesis")},
    **{"www": "misc", "data": "misc"},
}
_NUMBER = re.compile(r" \d{4}$")  # that tells authors of one name apart


@READERS.register
class DblpReader(ExportReader):
    """Reads ``.xml`` of DBLP, or a folder of such files."""

    name = "dblp"
    suffixes = (".xml",)
    expected = "a record of DBLP with a key and a title"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all records.

        :raises CorpusError: the file is broken.
        """
        for place, record in xml_records(file, _KINDS):
            if record.get("key", "").startswith("homepages/"):
                continue
            with reading(place, self.expected):
                export = _export(record)
            yield place, export


def _export(record: Element) -> Export:
    def text(*paths: str) -> str:
        return next(filter(None, (text_in(record.find(path)) for path in paths)), "")

    people = record.findall("author") or record.findall("editor")
    links = (text_in(link) for link in record.findall("ee"))
    key = record.get("key", "")
    return Export(
        key=f"DBLP:{key}" if key else "",
        title=text("title").removesuffix("."),
        abstract="",
        year=text("year"),
        authors=tuple(_NUMBER.sub("", text_in(person)) for person in people),
        venue=text("journal", "booktitle", "school", "series"),
        doi=next((link for link in links if "doi.org/10." in link), ""),
        kind=_KINDS[record.tag],
        volume=text("volume"),
        number=text("number"),
        pages=text("pages"),
        publisher=text("publisher"),
    )
