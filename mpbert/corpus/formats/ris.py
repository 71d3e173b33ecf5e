"""Reader of RIS: exports of EndNote, Zotero, Mendeley, publishers and library catalogues.

A line is a tag of two signs, two spaces, a hyphen and a value; a line without a tag goes on with
the value before it. A record begins with ``TY`` and ends with ``ER``.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.published import kind_of, page_range
from mpbert.corpus.raw.exports import Export, ExportReader, printed_name
from mpbert.corpus.raw.names import persons
from mpbert.corpus.raw.tagged_lines import TagForm, Tags, first_of, tagged_records
from mpbert.corpus.raw.text_files import read_text

_FORM = TagForm(
    line=re.compile(r"([A-Z][A-Z0-9])[ \t]{1,2}-(?:[ \t](.*))?$"),
    first="TY",
    last="ER",
    expected="'TY  - ' and a type, such as TY  - JOUR",
)
# tags of one meaning, the first that is there counts
_TITLE, _ABSTRACT, _YEAR = ("TI", "T1", "CT", "BT"), ("AB", "N2"), ("PY", "Y1", "DA")
_AUTHORS, _VENUE = ("AU", "A1"), ("JO", "JF", "T2", "JA", "J2", "BT", "PB")
_FILES = ("L1", "L4")


@READERS.register
class RisReader(ExportReader):
    """Reads a file ``.ris``, or a folder of them."""

    name = "ris"
    suffixes = (".ris",)
    expected = "a record of RIS with TY, a title and ER"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all records.

        :raises CorpusError: a line with a tag belongs to no record, or no record begins.
        """
        for place, tags in tagged_records(file, read_text(file), _FORM, self.noted):
            yield place, _export(tags)


def _export(tags: Tags) -> Export:
    title = first_of(tags, _TITLE)
    venue = first_of(tags, _VENUE)
    printed = (name for tag in _AUTHORS for name in tags.get(tag, ()))
    names = [name for each in printed for name in persons(each)]
    return Export(
        key=first_of(tags, ("ID",)),
        title=title,
        abstract=first_of(tags, _ABSTRACT),
        year=first_of(tags, _YEAR),
        authors=tuple(map(printed_name, names)),
        venue="" if venue == title else venue,
        doi=first_of(tags, ("DO",)),
        kind=kind_of(first_of(tags, ("TY",))),
        volume=first_of(tags, ("VL",)),
        number=first_of(tags, ("IS",)),
        pages=page_range(first_of(tags, ("SP",)), first_of(tags, ("EP",))),
        publisher=first_of(tags, ("PB",)),
        tags=tuple(tags.get("KW", ())),
        files=tuple(name.removeprefix("file://") for tag in _FILES for name in tags.get(tag, ())),
    )
