"""Search of a part of the papers: a graph of near papers (HNSW) of FAISS, vectors in 16 bits.

For millions of papers. A sample of the queries is searched exactly; the number of papers that are
kept in view is doubled until these queries find enough of their ten nearest papers. If they never
do, all queries are searched exactly. Scores are exact; what may happen is that a paper is missed.

All parts of the papers share one graph (Malkov & Yashunin 2018, arXiv 1603.09320). It is made at
the first search, by one thread, since with several it would be another one each time. Queries that
are no more than the sample are all searched exactly.
"""

import logging
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import faiss
import numpy as np

from mpbert.foundation.seeding import named_rng
from mpbert.retrieval.dense import PAPERS, DenseIndex
from mpbert.retrieval.proposals import parts_of
from mpbert.vectors.normal import normalized

logger = logging.getLogger(__name__)

_SAMPLE = 256  # queries searched exactly
_NEAREST = 10  # of which so many must be found
_NEIGHBOURS = 32  # of a paper in the graph
_BUILDING = 80  # papers in view when a paper gets its neighbours
_VIEWS = (16, 4096)  # papers in view of a search, at first and at most
_MULTIPLE = 16  # of dimensions: others have no vector instructions in FAISS
_SPARE = 5  # candidates beyond the cutoff: 16 bits swap near ones
_FEWEST = 1000  # candidates; fewer are all searched


class ApproximateIndex(DenseIndex):
    """All papers by their vectors; a copy in 16 bits, and the graph, are held in memory.

    :param recall: share of the ten nearest papers that the sample must find.
    """

    def __init__(
        self, vectors: np.ndarray, similarity: str = "cosine", recall: float = 0.98, seed: int = 1
    ) -> None:
        super().__init__(vectors, similarity)
        self._recall, self._seed = recall, seed
        self._shared = _Shared(self)

    def search(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most similar papers of each query that were found, best first.

        As :meth:`DenseIndex.search`. Queries of which too few papers are found are searched
        exactly.
        """
        if len(self._rows) < _FEWEST or len(queries) <= _SAMPLE:
            return super().search(queries, k, excluded_rows)
        excluded_rows = np.broadcast_to(excluded_rows, len(queries))
        view = self._view(queries, min(k, _NEAREST), excluded_rows)
        if view is None:
            return super().search(queries, k, excluded_rows)
        return self._search_graph(queries, k, excluded_rows, view)

    def _view(self, queries: np.ndarray, nearest: int, excluded_rows: np.ndarray) -> int | None:
        """Return how many papers in view find enough; None: as many as are allowed do not."""
        rng = named_rng(self._seed, "queries searched exactly")
        sample = np.sort(rng.permutation(len(queries))[:_SAMPLE])
        exact, _ = super().search(queries[sample], nearest, excluded_rows[sample])
        view, most = _VIEWS
        while view <= most:
            found, _ = self._search_graph(queries[sample], nearest, excluded_rows[sample], view)
            recall = (found[:, :, None] == exact[:, None]).any(2).mean() if exact.size else 1.0
            logger.info(
                "%d papers in view: %.4f of the %d nearest papers found, by %d queries",
                view, recall, nearest, len(sample),
            )  # fmt: skip
            if recall >= self._recall:
                return view
            view *= 2
        logger.info("too few are found: all queries are searched exactly")
        return None

    def _search_graph(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray, view: int
    ) -> tuple[np.ndarray, np.ndarray]:
        k = self._num_ranked(k, excluded_rows)
        depth = min(k + 1 + _SPARE, len(self._rows))
        asked = self._shared.lifted(normalized(queries), are_papers=False)
        chosen = np.packbits(self._is_candidate[self._shared.rows], bitorder="little")
        selector = faiss.IDSelectorBitmap(chosen)  # keeps no copy of the bits
        parameters = faiss.SearchParametersHNSW(efSearch=view)
        if len(self._rows) < len(self._shared.rows):
            parameters.sel = selector
        _, places = self._shared.graph.search(asked, depth, params=parameters)
        is_full = (places >= 0).all(axis=1)
        found = self._shared.rows[places[is_full]]
        return self._rank_found(queries, k, excluded_rows, found, is_full)


class _Shared:
    """The graph of all papers that have a vector.

    :ivar rows: (M,) their rows.
    """

    def __init__(self, index: DenseIndex) -> None:
        self._index = index  # of all papers
        self.rows = index._rows

    @cached_property
    def graph(self) -> faiss.IndexHNSW:
        with ThreadPoolExecutor(1) as thread:  # the number of threads is set for that thread alone
            return thread.submit(self._make).result()

    def _make(self) -> faiss.IndexHNSW:
        faiss.omp_set_num_threads(1)
        dim = self.lifted(self._index._unit(self.rows[:1]), are_papers=True).shape[1]
        kind = faiss.ScalarQuantizer.QT_fp16
        graph = faiss.IndexHNSWSQ(dim, kind, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = _BUILDING
        graph.train(np.zeros((1, dim), dtype=np.float32))  # 16 bits need no training
        for part in parts_of(len(self.rows), PAPERS):
            graph.add(self.lifted(self._index._unit(self.rows[part]), are_papers=True))
        return graph

    @staticmethod
    def lifted(vectors: np.ndarray, are_papers: bool) -> np.ndarray:
        """Return vectors with one more dimension, which makes papers as long as 1, and zeros.

        Inner products stay as they are, and become cosines, which graphs are good at (Neyshabur &
        Srebro 2015, sec. 4).

        :param vectors: (M, D) float32, no longer than 1.
        :returns: (M, E) float32; E is the next multiple of 16 above D.
        """
        dim = vectors.shape[1]
        last = np.zeros((len(vectors), _MULTIPLE - dim % _MULTIPLE), dtype=np.float32)
        if are_papers:
            missing = 1 - np.einsum("md,md->m", vectors, vectors)
            last[:, 0] = np.sqrt(np.maximum(missing, 0))
        return np.hstack([vectors, last])
