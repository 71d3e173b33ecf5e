"""Search of a part of the papers, and of short codes of these: IVF and PQ of FAISS.

For millions of papers. A sample of the queries is searched exactly; the number of lists that are
read is doubled until these queries find enough of their ten nearest papers, and then fewer
candidates are scored as long as they still do. Scores are exact; what may happen is that a paper is
missed.

The lists are learnt at the first search, of the candidates alone: each part of the papers has lists
of its own. Queries that are no more than the sample are all searched exactly.
"""

import logging
import math
from functools import cached_property
from typing import Self

import faiss
import numpy as np

from mpbert.foundation.seeding import named_rng
from mpbert.retrieval.dense import PAPERS, DenseIndex
from mpbert.retrieval.proposals import parts_of
from mpbert.vectors.normal import normalized

logger = logging.getLogger(__name__)

_SAMPLE = 256  # queries searched exactly
_NEAREST = 10  # of which so many must be found
_PER_LIST = 64  # papers a list is learnt from
_ROUNDS = 10  # of k-means
_CANDIDATES = (20, 10, 5)  # by codes, for each paper wanted
_FEWEST = 16  # papers that codes of four bits, and lists, are learnt from; fewer are all searched


class ApproximateIndex(DenseIndex):
    """All papers by their vectors, in about 4 sqrt(N) lists; a copy is held in memory.

    A code has 2 bits for each of the D dimensions; candidates by codes are then scored in float32.

    :param recall: share of the ten nearest papers that the sample must find.
    """

    def __init__(
        self, vectors: np.ndarray, similarity: str = "cosine", recall: float = 0.98, seed: int = 1
    ) -> None:
        super().__init__(vectors, similarity)
        self._recall, self._seed = recall, seed

    def within(self, papers: np.ndarray) -> Self:
        """Return an index of some of the papers, with lists of its own."""
        part = super().within(papers)
        if part is not self:
            part.__dict__.pop("_learnt", None)
        return part

    @cached_property
    def _learnt(self) -> tuple[faiss.IndexRefineFlat, faiss.IndexIVF]:
        """The index, and the lists in it."""
        dim, size = self._vectors.shape[1], len(self._rows)
        num_lists = max(1, int(4 * math.sqrt(size)))
        codes = dim // 2 if dim % 2 == 0 else dim
        lists = faiss.index_factory(
            dim, f"IVF{num_lists},PQ{codes}x4fs", faiss.METRIC_INNER_PRODUCT
        )
        lists.cp.niter, lists.cp.seed = _ROUNDS, self._seed
        lists.cp.min_points_per_centroid = 1
        index = faiss.IndexRefineFlat(lists)
        chosen = named_rng(self._seed, "papers of lists").permutation(size)
        chosen = np.sort(chosen[: _PER_LIST * num_lists])
        index.train(self._unit(self._rows[chosen]))
        for part in parts_of(size, PAPERS):
            index.add(self._unit(self._rows[part]))
        return index, lists

    def search(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most similar papers of each query that were found, best first.

        As :meth:`DenseIndex.search`. Queries whose lists hold too few papers are searched exactly.
        """
        if len(self._rows) < _FEWEST or len(queries) <= _SAMPLE:
            return super().search(queries, k, excluded_rows)
        rng = named_rng(self._seed, "queries searched exactly")
        sample = np.sort(rng.permutation(len(queries))[:_SAMPLE])
        nearest = min(k, _NEAREST)
        excluded_rows = np.broadcast_to(excluded_rows, len(queries))
        exact, _ = super().search(queries[sample], nearest, excluded_rows[sample])
        self._choose_effort(queries[sample], exact, excluded_rows[sample])
        return self._search_lists(queries, k, excluded_rows)

    def _choose_effort(
        self, queries: np.ndarray, exact: np.ndarray, excluded_rows: np.ndarray
    ) -> None:
        """Set how many lists are read, and how many candidates scored, by queries searched exactly.

        :param exact: (Q, K) rows of their nearest papers.
        """
        index, lists = self._learnt

        def recall_with(num_lists: int, num_candidates: int) -> float:
            lists.nprobe, index.k_factor = num_lists, num_candidates
            found, _ = self._search_lists(queries, exact.shape[1], excluded_rows)
            return (found[:, :, None] == exact[:, None]).any(2).mean() if exact.size else 1.0

        num_lists, num_candidates = 1, _CANDIDATES[0]
        recall = recall_with(num_lists, num_candidates)
        while recall < self._recall and num_lists < lists.nlist:
            num_lists = min(2 * num_lists, lists.nlist)
            recall = recall_with(num_lists, num_candidates)
        for fewer in _CANDIDATES[1:]:
            reached = recall_with(num_lists, fewer)
            if reached < self._recall:
                break
            num_candidates, recall = fewer, reached
        lists.nprobe, index.k_factor = num_lists, num_candidates
        logger.info(
            "%d of %d lists, %d candidates: %.4f of the %d nearest papers found, by %d queries",
            num_lists, lists.nlist, num_candidates, recall, exact.shape[1], len(queries),
        )  # fmt: skip

    def _search_lists(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        k = self._num_ranked(k, excluded_rows)
        depth = min(k + 1, len(self._rows))
        _, places = self._learnt[0].search(normalized(queries), max(depth, 1))
        is_full = (places >= 0).all(axis=1)
        return self._rank_found(queries, k, excluded_rows, self._rows[places[is_full]], is_full)
