"""Reader of RIS: exports of EndNote, Zotero, Mendeley, publishers and library catalogues.

A line is a tag of two signs, two spaces, a hyphen and a value; a line without a tag goes on with
the value before it. A record begins with ``TY`` and ends with ``ER``. The parser is our own: forty
lines, which tell the line of what is broken.
"""

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.published import kind_of, page_range
from mpbert.corpus.raw.exports import Export, ExportReader, read_text, spoken_name
from mpbert.corpus.raw.names import persons
from mpbert.foundation.errors import CorpusError

_LINE = re.compile(r"([A-Z][A-Z0-9])[ \t]{1,2}-(?:[ \t](.*))?$")
# tags of one meaning, the first that is there counts
_TITLE, _ABSTRACT, _YEAR = ("TI", "T1", "CT", "BT"), ("AB", "N2"), ("PY", "Y1", "DA")
_AUTHORS, _VENUE = ("AU", "A1"), ("JO", "JF", "T2", "JA", "J2", "BT", "PB")
_FILES = ("L1", "L4")

Tags = dict[str, list[str]]


@READERS.register
class RisReader(ExportReader):
    """Reads a file ``.ris``, or a folder of them."""

    name = "ris"
    suffixes = (".ris",)
    expected = "a record of RIS with TY, a title and ER"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all records.

        :raises CorpusError: a line belongs to no record.
        """
        for place, tags in _records(file, read_text(file)):
            yield place, _export(tags)


def _records(file: Path, text: str) -> Iterator[tuple[str, Tags]]:
    """Yield (place, values by tag) of all records; one that lacks its end ends with the next TY."""
    tags: Tags | None = None
    place, last = "", ""
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        found = _LINE.match(line.rstrip())
        if found and found[1] == "TY":
            if tags is not None:
                yield place, tags
            tags, place = defaultdict(list), f"{file}:{number}"
        elif tags is None:
            if line.strip() and not (found and found[1] == "ER"):
                raise CorpusError(
                    f"{file}:{number}: found {line.strip()[:40]!a} outside of a record; expected "
                    f"'TY  - ' and a type, such as TY  - JOUR: correct the file or export it again"
                )
            continue
        if found and found[1] == "ER":
            yield place, tags
            tags = None
        elif found:
            last = found[1]
            tags[last].append((found[2] or "").strip())
        elif line.strip() and tags:
            tags[last][-1] += f" {line.strip()}"
    if tags is not None:
        yield place, tags


def _export(tags: Tags) -> Export:
    def first(names: tuple[str, ...]) -> str:
        return next((value for name in names for value in tags.get(name, ()) if value), "")

    title = first(_TITLE)
    venue = first(_VENUE)
    printed = (name for tag in _AUTHORS for name in tags.get(tag, ()))
    names = [name for each in printed for name in persons(each)]
    return Export(
        key=first(("ID",)),
        title=title,
        abstract=first(_ABSTRACT),
        year=first(_YEAR),
        authors=tuple(spoken_name(*name.split(",", 2)) for name in names),
        venue="" if venue == title else venue,
        doi=first(("DO",)),
        kind=kind_of(first(("TY",))),
        volume=first(("VL",)),
        number=first(("IS",)),
        pages=page_range(first(("SP",)), first(("EP",))),
        publisher=first(("PB",)),
        files=tuple(name.removeprefix("file://") for tag in _FILES for name in tags.get(tag, ())),
    )
