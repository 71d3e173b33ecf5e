"""Search of a part of the papers, and of short codes of these: IVF and PQ of FAISS.

For millions of papers. A sample of the queries is searched exactly; the number of lists that are
read is doubled until these queries find enough of their ten nearest papers. Scores are exact; what
may happen is that a paper is missed.
"""

import logging
import math

import faiss
import numpy as np

from mpbert.foundation.seeding import named_rng
from mpbert.retrieval.dense import PAPERS, RESCORED, DenseIndex, parts_of
from mpbert.retrieval.ranking import num_ranked
from mpbert.vectors.normal import normalized

logger = logging.getLogger(__name__)

_SAMPLE = 256  # queries searched exactly
_NEAREST = 10  # of which so many must be found
_PER_LIST = 64  # papers a list is learnt from
_ROUNDS = 10  # of k-means
_CANDIDATES = 20  # by codes, for each paper wanted
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
        self._recall = recall
        dim, size = vectors.shape[1], len(self._rows)
        self._is_exact = size < _FEWEST
        if self._is_exact:
            return
        num_lists = max(1, int(4 * math.sqrt(size)))
        codes = dim // 2 if dim % 2 == 0 else dim
        self._lists = faiss.index_factory(
            dim, f"IVF{num_lists},PQ{codes}x4fs", faiss.METRIC_INNER_PRODUCT
        )
        self._lists.cp.niter, self._lists.cp.seed = _ROUNDS, seed
        self._lists.cp.min_points_per_centroid = 1
        self._index = faiss.IndexRefineFlat(self._lists)
        self._index.k_factor = _CANDIDATES
        chosen = named_rng(seed, "papers of lists").permutation(size)[: _PER_LIST * num_lists]
        self._index.train(self._unit(self._rows[np.sort(chosen)]))
        for part in parts_of(size, PAPERS):
            self._index.add(self._unit(self._rows[part]))
        self._rng = named_rng(seed, "queries searched exactly")

    def search(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most similar papers of each query that were found, best first.

        As :meth:`DenseIndex.search`. Queries whose lists hold too few papers are searched exactly.
        """
        if self._is_exact:
            return super().search(queries, k, excluded_rows)
        sample = np.sort(self._rng.permutation(len(queries))[:_SAMPLE])
        nearest = min(k, _NEAREST)
        excluded_rows = np.broadcast_to(excluded_rows, len(queries))
        exact, _ = super().search(queries[sample], nearest, excluded_rows[sample])
        self._lists.nprobe = 1
        while True:
            found, _ = self._search_lists(queries[sample], nearest, excluded_rows[sample])
            recall = (found[:, :, None] == exact[:, None]).any(2).mean() if exact.size else 1.0
            if recall >= self._recall or self._lists.nprobe >= self._lists.nlist:
                break
            self._lists.nprobe = min(2 * self._lists.nprobe, self._lists.nlist)
        logger.info(
            "%d of %d lists: %.4f of the %d nearest papers found, by %d queries",
            self._lists.nprobe, self._lists.nlist, recall, nearest, len(sample),
        )  # fmt: skip
        return self._search_lists(queries, k, excluded_rows)

    def _search_lists(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        k = num_ranked(k, len(self._vectors), excluded_rows)
        depth = min(k + 1, len(self._rows))
        lowest, places = self._index.search(normalized(queries), max(depth, 1))
        is_short = (places < 0).any(axis=1)
        rows, scores = np.zeros((len(queries), k), dtype=np.int64), np.zeros((len(queries), k))
        full = np.flatnonzero(~is_short)
        for block in parts_of(len(full), RESCORED):
            some = full[block]
            rows[some], scores[some], _ = self._rescore(
                queries[some], self._rows[places[some]], lowest[some, -1], k, excluded_rows[some]
            )
        short = np.flatnonzero(is_short)
        if len(short):
            rows[short], scores[short] = super().search(queries[short], k, excluded_rows[short])
        return rows, scores
