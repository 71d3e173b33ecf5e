"""The tables of an index of a library, made in blocks: memory holds a part of the papers."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mpbert.corpus.clean import CleanPaper
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.growing_arrays import Numbers
from mpbert.foundation.id_rows import IdRows, order_of
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of
from mpbert.recommending.arrivals import digest_of
from mpbert.recommending.citation_keys import unique_keys
from mpbert.recommending.column_making import column_of
from mpbert.recommending.columns import TEXT, TextColumn
from mpbert.recommending.copies import renamed, told_copies
from mpbert.recommending.encoders import IndexEncoder
from mpbert.recommending.growing_tables import GrowingTable
from mpbert.recommending.matching import PapersByToken
from mpbert.recommending.paper_rows import (
    bodies_table,
    contexts_table,
    keyless,
    merged_contexts,
    papers_table,
    texts_read,
)
from mpbert.recommending.read_papers import ReadPapers
from mpbert.recommending.tables import BODIES, CONTEXTS, PAPERS, IndexTables
from mpbert.vectors.matches import TokenWeights

_BLOCK = 1 << 12  # papers that are in memory


def library_tables(papers: ReadPapers, encoder: IndexEncoder, counts: Counter[str]) -> IndexTables:
    """Return the tables of an index of these papers.

    :param counts: receives what is added, merged and dropped.
    :raises CorpusError: an id occurs twice.
    """
    read = _Distinct(papers, counts)
    order, ids = read.in_order()
    rows, made = IdRows(ids), _Made(encoder)
    for first in progress(range(0, len(order), _BLOCK), "tables", "block"):
        block = [read[row] for row in order[first : first + _BLOCK].tolist()]
        made.extend(block, papers.shares_case[order[first : first + _BLOCK]], rows, counts)
        papers.release()
    counts["papers_added"] += len(order)
    return made.tables()


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
        each = zip(order[1:].tolist(), pairwise(ids), strict=True)
        if repeated := [row for row, (before, own) in each if before == own]:
            raise CorpusError(
                f"paper id {self._papers.ids[min(repeated)]!r} occurs twice; expected unique ids, "
                f"remove one of the two papers"
            )
        return order, ids

    def __getitem__(self, row: int) -> CleanPaper:
        paper = self._merged.get(row) or self._papers[row]
        return renamed(paper, self._same) if self._same else paper


class _Made:
    """Tables that grow."""

    def __init__(self, encoder: IndexEncoder) -> None:
        self._encoder = encoder
        self._papers, self._bodies = GrowingTable(PAPERS), GrowingTable(BODIES)
        self._contexts, self._vectors = GrowingTable(CONTEXTS), Numbers(np.float32)
        self._sizes, self._tokens = Numbers(np.int64), Numbers(np.int32)
        self._weights, self._num_papers = Numbers(np.float32), 0
        self._has_key: list[np.ndarray] = []

    def extend(
        self,
        papers: Sequence[CleanPaper],
        shares_case: np.ndarray,
        rows: IdRows,
        counts: Counter[str],
    ) -> None:
        """Add the next papers."""
        read, without_key = list(map(texts_read, papers)), list(map(keyless, papers))
        made = [each.key(bool(s)) for each, s in zip(without_key, shares_case, strict=True)]
        self._has_key.append(np.array([each.id_is_key for each in without_key], dtype=bool))
        self._papers.extend(papers_table(papers, list(map(digest_of, papers)), made))
        self._bodies.extend(bodies_table(papers))
        cited = rows.find(i for paper in papers for _, ids in paper.cited for i in ids)
        own = {paper.paper_id: self._num_papers + n for n, paper in enumerate(papers)}
        contexts = contexts_table(papers, own, cited, counts)
        counts["citing_sentences_added"] += contexts.num_rows
        self._contexts.extend(merged_contexts(contexts))
        self._vectors.extend(self._encoder.embed_papers(read))
        if self._encoder.num_matched:
            weights = [self._encoder.weigh_paper(*paper) for paper in read]
            self._sizes.extend([len(each.tokens) for each in weights])
            self._tokens.extend(np.concatenate([each.tokens for each in weights]))
            self._weights.extend(np.concatenate([each.weights for each in weights]))
        self._num_papers += len(papers)

    def tables(self) -> IndexTables:
        """Return the tables of all papers."""
        papers, dim = self._papers.table(), self._encoder.dim
        matches = None
        if self._encoder.num_matched:
            parts = offsets_of(self._sizes.array()), self._tokens.array(), self._weights.array()
            matches = PapersByToken.of(TokenWeights(*parts, self._encoder.num_matched))
        return IndexTables(
            papers.with_columns({"key": self._keys(papers["key"])}),
            self._contexts.table(),
            self._vectors.array().reshape(papers.num_rows, dim),
            matches,
            self._bodies.table(),
        )

    def _keys(self, made: TextColumn) -> TextColumn:
        """Return a key of each paper, no two the same; papers with keys of their own have them."""
        order = np.argsort(~np.concatenate([*self._has_key, np.zeros(0, bool)]), kind="stable")
        keys = column_of(list(unique_keys(made.take(order))), TEXT)
        return keys.take(np.argsort(order))
