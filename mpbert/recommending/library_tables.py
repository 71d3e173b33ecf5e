"""The tables of an index of a library, made in blocks: memory holds a part of the papers."""

import json
from collections import Counter
from collections.abc import Iterator

import numpy as np

from mpbert.corpus.paper_bytes import bytes_of
from mpbert.foundation.engines import Engine, Job, OwnProcesses
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.growing_arrays import Numbers
from mpbert.foundation.id_rows import IdRows
from mpbert.foundation.parts import Arrays, PartFiles
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of
from mpbert.recommending.citation_keys import made_unique
from mpbert.recommending.column_making import column_in
from mpbert.recommending.columns import ColumnTable, TextColumn
from mpbert.recommending.copies import told_copies
from mpbert.recommending.growing_tables import GrowingTable
from mpbert.recommending.growing_words import GrowingWords
from mpbert.recommending.lookup_building import CountedWords
from mpbert.recommending.matching import PapersByToken
from mpbert.recommending.ordered_texts import order_of, repeated
from mpbert.recommending.paper_blocks import PaperBlock
from mpbert.recommending.read_papers import ReadPapers, cited_by
from mpbert.recommending.tables import BODIES, CONTEXTS, PAPERS, IndexTables
from mpbert.vectors.matches import TokenWeights

_SCHEMAS = {"papers": PAPERS, "contexts": CONTEXTS, "bodies": BODIES}
_BLOCK, _BYTES = 1 << 12, 1 << 24  # papers of a block, and their bytes


def library_tables(
    papers: ReadPapers,
    work: Job,
    counts: Counter[str],
    engine: Engine | None = None,
    parts: PartFiles | None = None,
) -> tuple[IndexTables, CountedWords]:
    """Return the tables of an index of these papers, and their words.

    :param work: what makes blocks, see :mod:`mpbert.recommending.paper_blocks`.
    :param counts: receives what is added, merged and dropped.
    :param engine: where blocks are made; None: here.
    :param parts: where finished blocks stay for a later run; None: nowhere.
    :raises CorpusError: an id occurs twice.
    """
    read, made = _Distinct(papers, counts), _Made()
    order, ids = read.in_order()
    sizes, rows = papers.sizes[order], IdRows(ids)
    bounds = list(_bounds(sizes))
    blocks = (read.block(order[first:end], first, rows) for first, end in bounds)
    found = (engine or OwnProcesses()).results(work, blocks, parts)
    for part in progress(found, "tables and words", "block", len(bounds)):
        made.extend(part, counts)
    counts["papers_added"] += len(order)
    return made.result()


def _bounds(sizes: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first and end of each block of papers, which have so many bytes each."""
    ends, first = offsets_of(sizes), 0
    while first < len(sizes):
        most = int(np.searchsorted(ends, ends[first] + _BYTES, side="right")) - 1
        end = min(max(most, first + 1), first + _BLOCK, len(sizes))
        yield first, end
        first = end


class _Distinct:
    """Papers without copies, which cite each other so."""

    def __init__(self, papers: ReadPapers, counts: Counter[str]) -> None:
        self._papers = papers
        rows = papers.may_be_copies()
        some = {row: papers[row] for row in rows.tolist()}
        found, self._same = told_copies(list(some.values()), counts)
        kept = {paper.paper_id: paper for paper in found}
        self._merged = {row: kept.get(paper.paper_id, None) for row, paper in some.items()}

    def in_order(self) -> tuple[np.ndarray, TextColumn]:
        """Return (N,) the rows of the papers in the order of their ids, and (N,) these.

        :raises CorpusError: an id occurs twice.
        """
        order = order_of(self._papers.ids)
        gone = [row for row, paper in self._merged.items() if paper is None]
        order = order[~np.isin(order, gone)]
        ids = self._papers.ids.take(order)
        if len(twice := repeated(ids)):
            raise CorpusError(
                f"paper id {self._papers.ids[order[twice + 1].min()]!r} occurs twice; expected "
                f"unique ids, remove one of the two papers"
            )
        return order, ids

    def block(self, order: np.ndarray, first: int, rows: IdRows) -> PaperBlock:
        """Return some papers, of which ``first`` is the row of the first in the index."""
        lines, cited = [], dict[str, None]()
        for row in order.tolist():
            merged = self._merged.get(row)
            lines.append(bytes_of(merged) if merged else self._papers.line(row))
            cited.update(dict.fromkeys(cited_by(merged) if merged else self._papers.cited(row)))
        self._papers.release()
        named = {paper_id: self._same.get(paper_id, paper_id) for paper_id in cited}
        there = rows.find(named.values())
        found = {paper_id: there[own] for paper_id, own in named.items() if own in there}
        return PaperBlock(lines, self._papers.shares_case[order].tolist(), first, found)


class _Made:
    """Tables and words that grow."""

    def __init__(self) -> None:
        self._tables = {name: GrowingTable(schema) for name, schema in _SCHEMAS.items()}
        self._vectors, self._dim = Numbers(np.float32), 0
        self._matches = Numbers(np.int64), Numbers(np.int32), Numbers(np.float32)
        self._num_matched, self._has_key = 0, [np.zeros(0, bool)]
        self._words = GrowingWords()

    def extend(self, part: Arrays, counts: Counter[str]) -> None:
        """Add the next block."""
        for name, table in self._tables.items():
            table.extend(
                ColumnTable(
                    {c: column_in(part, f"{name}.{c}", k) for c, k in _SCHEMAS[name].items()}
                )
            )
        counts.update(json.loads(part["counts"].tobytes()))
        counts["citing_sentences_added"] += len(part["contexts.position"])
        self._has_key.append(part["has_key"])
        self._dim = part["vectors"].shape[1]
        self._vectors.extend(part["vectors"])
        if "num_matched" in part:
            self._num_matched = int(part["num_matched"])
            for numbers, name in zip(self._matches, ("sizes", "tokens", "weights"), strict=True):
                numbers.extend(part[f"match_{name}"])
        self._words.extend(part)

    def result(self) -> tuple[IndexTables, CountedWords]:
        """Return the tables of all papers, and their words."""
        papers, contexts, bodies = (table.table() for table in self._tables.values())
        keys = made_unique(papers["key"], np.concatenate(self._has_key))
        matches = None
        if self._num_matched:
            sizes, *held = (numbers.array() for numbers in self._matches)
            matches = PapersByToken.of(TokenWeights(offsets_of(sizes), *held, self._num_matched))
        tables = IndexTables(
            papers.with_columns({"key": keys}),
            contexts,
            self._vectors.array().reshape(papers.num_rows, self._dim),
            matches,
            bodies,
        )
        return tables, self._words.words(tables)
