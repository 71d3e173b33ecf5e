"""Reader of tables: papers, and where or what they cite, as CSV or TSV with a line of names.

* ``papers``: ``paper_id title``, and where known ``year authors venue abstract split``; authors are
  separated by ``;``.
* ``contexts``: ``citing_id cited_ids text``, and where known ``section``; a row is a passage of
  the citing paper, in reading order; ``cited_ids`` are separated by ``;`` and may be empty. Each
  sentence with a ``[CITATION]`` in it cites them all; a text without one is one sentence that does.
  Other citations in it should be written ``[OTHER]``: they are cut out.
* ``citations``: ``citing_id cited_id``, the list of references.

The two last may lack; of a corpus, not both. A file is ``.csv`` or ``.tsv``, plain or packed, in
UTF-8.
"""

import csv
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.base import READERS, Reader
from mpbert.corpus.raw.disk_index import DiskIndex
from mpbert.corpus.raw.files import find_file, read_lines, without_packing
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.linkage import Linker
from mpbert.corpus.raw.spans import mark_paragraph, mark_piece, plain, sections_of
from mpbert.corpus.raw.values import reading, required_id, year_of
from mpbert.corpus.records import RawPaper
from mpbert.corpus.splits import SPLITS, YearSplits
from mpbert.foundation.errors import CorpusError, listed

logger = logging.getLogger(__name__)
_MARK = re.compile(r"\[(CITATION|OTHER)\]")
_LONGEST_FIELD = 1 << 27  # characters; the limit of the csv module, 131,072, is less than a paper
_PAPER = "a row with paper_id and title, split one of train, valid, test or empty"

Row = dict[str, str]


@READERS.register
class TablesReader(Reader):
    """Reads a folder with ``papers.csv`` and ``contexts.csv`` or ``citations.csv``, or ``.tsv``."""

    name = "csv"
    default_splits = YearSplits(valid_year=2018, test_year=2019)

    def __init__(self) -> None:
        super().__init__()
        self._linker = Linker()
        self._contexts = DiskIndex()
        self._citations = DiskIndex()

    def prepare(self, path: Path) -> None:
        """Put contexts and citations on disk by citing paper."""
        for place, row in _rows(_table(path, "papers"), ("paper_id", "title")):
            with reading(place, _PAPER):
                self._linker.add(required_id(row["paper_id"]), Identifiers())
        contexts, citations = (_table(path, name, False) for name in ("contexts", "citations"))
        if self.needs_citations and contexts is None and citations is None:
            raise CorpusError(
                f"{path}: found neither contexts.csv nor citations.csv; expected at least one, "
                f"with the columns citing_id, cited_ids, text or citing_id, cited_id"
            )
        for place, row in _rows(contexts, ("citing_id", "cited_ids", "text")):
            with reading(place, "a row with citing_id, cited_ids and text"):
                cited_ids = [required_id(i) for i in row["cited_ids"].split(";") if i.strip()]
                passage = (row.get("section", ""), row["text"], cited_ids)
                self._contexts.add(required_id(row["citing_id"]), passage)
        for place, row in _rows(citations, ("citing_id", "cited_id")):
            with reading(place, "a row with citing_id and cited_id"):
                self._citations.add(required_id(row["citing_id"]), required_id(row["cited_id"]))
        for name, index in (("contexts", self._contexts), ("citations", self._citations)):
            index.seal()
            self.counts[f"papers_with_{name}_but_not_in_papers"] += sum(
                citing_id not in self._linker.paper_ids for citing_id in index.keys()
            )

    def read_records(self, path: Path) -> Iterator[object]:
        """Yield (place, row) of the papers; of those with one id the first."""
        seen: set[str] = set()
        repeated: list[str] = []
        for place, row in _rows(_table(path, "papers"), ("paper_id", "title")):
            paper_id = row["paper_id"].strip()
            if paper_id in seen:
                repeated.append(f"{paper_id!r} at {place}")
            else:
                seen.add(paper_id)
                yield place, row
        if repeated:
            self.counts["papers_with_the_id_of_an_earlier_one"] += len(repeated)
            logger.warning("left out, with the key of an earlier record: %s", listed(repeated, 20))

    def parse(self, record: object) -> RawPaper:
        """Return the paper of a row."""
        place, row = record
        with reading(place, _PAPER):
            split = row.get("split", "").strip() or None
            if split and split not in SPLITS:
                raise ValueError(f"found the split {split!r}")
            return self._paper(required_id(row["paper_id"]), row, split)

    def _paper(self, paper_id: str, row: Row, split: str | None) -> RawPaper:
        passages = self._contexts.get(paper_id)
        body = [(heading, self._marked(text, ids)) for heading, text, ids in passages]
        printed = [i for _, _, ids in passages for i in ids] + self._citations.get(paper_id)
        found = [
            self._linker.resolve(Identifiers(corpus_id=cited), self.counts)
            for cited in dict.fromkeys(printed)
        ]
        title = row["title"].strip()
        abstract = plain(row.get("abstract", ""), self.counts)
        if not abstract and not body:
            self.counts["papers_known_by_their_title_alone"] += 1
            abstract = plain(title, self.counts)
        return RawPaper(
            paper_id=paper_id,
            title=title,
            year=year_of(row.get("year")),
            abstract=abstract,
            sections=sections_of(body),
            authors=tuple(filter(None, map(str.strip, row.get("authors", "").split(";")))),
            venue=row.get("venue", "").strip(),
            references=tuple(filter(None, found)),
            split=split,
        )

    def _marked(self, text: str, cited_ids: Sequence[str]) -> list[RawSentence]:
        known = tuple(i for i in cited_ids if i in self._linker.paper_ids)
        spans = [
            (m.start(), m.end(), known if m[1] == "CITATION" else ()) for m in _MARK.finditer(text)
        ]
        if cited_ids and not any(m[1] == "CITATION" for m in _MARK.finditer(text)):
            text = f"{text.rstrip()} [CITATION]"  # cut out again, it only carries the ids
            spans.append((len(text) - len("[CITATION]"), len(text), known))
            return [mark_piece(text, 0, len(text), spans)]
        return mark_paragraph(text, spans, self.counts)


def _table(folder: Path, name: str, is_needed: bool = True) -> Path | None:
    return find_file(folder, f"{name}.tsv", False) or find_file(folder, f"{name}.csv", is_needed)


def _rows(path: Path | None, columns: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield (place, fields by name) of a table; none for no table.

    :raises CorpusError: a column lacks, or a row has more or fewer fields than the first.
    """
    if path is None:
        return
    csv.field_size_limit(_LONGEST_FIELD)
    dialect = csv.excel_tab if without_packing(path).suffix == ".tsv" else csv.excel
    rows = csv.reader(_decoded(path), dialect, strict=True)
    names: list[str] = []
    try:
        names += [name.strip().lower() for name in next(rows, [])]
        if lacking := [column for column in columns if column not in names]:
            raise CorpusError(
                f"{path}:1: found the columns {_shown(names)}; expected also "
                f"{', '.join(lacking)}: name them in the first line"
            )
        for row in rows:
            if any(row):
                if len(row) != len(names):
                    raise ValueError(f"found {len(row)} fields")
                yield f"{path}:{rows.line_num}", dict(zip(names, row, strict=True))
    except (ValueError, csv.Error) as error:
        raise CorpusError(
            f"{path}:{rows.line_num}: broken row ({error}); expected {len(names)} fields in UTF-8, "
            f"those with line ends or quotes in quotes: correct the table"
        ) from error


def _shown(names: Sequence[str]) -> str:
    return ", ".join(name if name.isprintable() else ascii(name) for name in names) or "none"


def _decoded(path: Path) -> Iterator[str]:
    for number, line in read_lines(path):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"{path}:{number}: found broken UTF-8 at byte {error.start} of the line; expected "
                f"a table in UTF-8: save it so"
            ) from error
