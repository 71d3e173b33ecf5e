"""Reader of the Web of Science: plain text as it saves it (``savedrecs.txt``), and EndNote's form.

A line is a tag of two signs and a value; three spaces begin a line that goes on. A record begins
with ``PT`` and ends with ``ER``. Cited references with a DOI are the citations: for the global
task.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.published import page_range
from mpbert.corpus.raw.exports import Export, ExportReader, listed_tags, printed_name
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.tagged_lines import TagForm, Tags, first_of, tagged_records
from mpbert.corpus.raw.text_files import read_text

_FORM = TagForm(
    line=re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$"),
    first="PT",
    last="ER",
    expected="'PT ' and a type, such as PT J",
    outside=frozenset(("FN", "VR", "EF")),
    lists=frozenset(("AU", "AF", "BA", "BF", "BE", "CA", "GP", "CR", "C1")),
)
_AUTHORS = ("AF", "AU", "CA", "GP", "BF", "BA", "BE")  # the first that is there counts
_CITED_DOI = re.compile(r"\bDOI (?:\[?DOI )?\[?(10\.[^\s,\]]+)")
_KINDS = {"J": "article", "B": "book", "S": "incollection", "C": "inproceedings", "P": "misc"}


@READERS.register
class WosReader(ExportReader):
    """Reads plain text of the Web of Science, ``.txt`` or ``.ciw``, or a folder of them."""

    name = "wos"
    suffixes = (".txt", ".ciw", ".isi")
    expected = "a record of the Web of Science with PT, TI and ER"
    has_keys = False  # but numbers of that database

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all records.

        :raises CorpusError: a line with a tag belongs to no record, or no record begins.
        """
        for place, tags in tagged_records(file, read_text(file), _FORM, self.noted):
            yield place, _export(tags)


def _export(tags: Tags) -> Export:
    names = next(filter(None, (tags.get(tag) for tag in _AUTHORS)), ())
    cited = filter(None, map(_CITED_DOI.search, tags.get("CR", ())))
    return Export(
        key=first_of(tags, ("UT",)),
        title=first_of(tags, ("TI",)),
        abstract=first_of(tags, ("AB",)),
        year=first_of(tags, ("PY", "EA", "PD")),
        authors=tuple(map(printed_name, names)),
        venue=first_of(tags, ("SO", "J9", "CT")),
        doi=first_of(tags, ("DI", "D2")),
        references=tuple(Identifiers(doi=found[1]) for found in cited),
        kind=_kind(tags),
        volume=first_of(tags, ("VL",)),
        number=first_of(tags, ("IS",)),
        pages=page_range(first_of(tags, ("BP",)), first_of(tags, ("EP",)))
        or first_of(tags, ("AR",)),
        publisher=first_of(tags, ("PU",)),
        tags=listed_tags(first_of(tags, ("DE",))),
        known=Identifiers(pubmed=first_of(tags, ("PM",))),
    )


def _kind(tags: Tags) -> str:
    kinds = first_of(tags, ("DT",))
    if "Proceedings Paper" in kinds:
        return "article" if kinds.startswith("Article") else "inproceedings"
    return "incollection" if "Chapter" in kinds else _KINDS.get(first_of(tags, ("PT",)), "")
