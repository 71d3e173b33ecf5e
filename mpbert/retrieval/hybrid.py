"""Exact search by a cosine and exact matches of tokens, added up.

All papers are scored, in float64, so that the ranking depends on nothing but vectors and weights.
"""

import copy
from typing import Self

import numpy as np
from scipy import sparse

from mpbert.foundation.progress import progress
from mpbert.retrieval.dense import SIMILARITIES, parts_of
from mpbert.retrieval.ranking import num_ranked, top_k

_BLOCK = 256  # queries scored at once: their scores of all papers lie in memory
_CONVERTED = 1 << 15  # papers scored at once: they lie in memory as float64


class HybridIndex:
    """All papers by vectors and weights of tokens; :meth:`within` is an index of some of them.

    :param vectors: (N, D), of any length, mapped or not.
    :param matches: (N, V) weights of tokens.
    :param similarity: of the vectors, ``cosine`` or ``dot``.
    """

    def __init__(
        self, vectors: np.ndarray, matches: sparse.csr_array, similarity: str = "cosine"
    ) -> None:
        self._prepare, self._vectors = SIMILARITIES[similarity], vectors
        self._by_token = matches.astype(np.float64).T.tocsr()  # (V, N)
        self._is_candidate = np.ones(len(vectors), dtype=bool)

    def within(self, papers: np.ndarray) -> Self:
        """Return an index of some of the papers; vectors and weights are shared.

        :param papers: (N,) whether a paper is a candidate.
        """
        part = copy.copy(self)
        part._is_candidate = papers
        return part

    def search(
        self, queries: np.ndarray, matches: sparse.csr_array, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k best papers of each query, best first.

        :param queries: (Q, D) vectors; ``matches`` (Q, V) their weights of tokens.
        :param excluded_rows: (Q,) row of the citing paper, which is no candidate, or -1.
        :returns: (Q, K) rows and (Q, K) float64 scores; K is smaller than k where the papers are
            too few.
        """
        inside = self._is_candidate[np.maximum(excluded_rows, 0)]
        excluded_rows = np.where(inside, excluded_rows, -1)
        k = num_ranked(k, int(self._is_candidate.sum()), excluded_rows)
        rows = np.empty((len(queries), k), dtype=np.int64)
        scores = np.empty((len(queries), k))
        if not k:
            return rows, scores
        for block in progress(parts_of(len(queries), _BLOCK), "search", "block"):
            found = self._scores(queries[block], matches[block])
            found[:, ~self._is_candidate] = -np.inf
            rows[block], scores[block] = top_k(found, k, excluded_rows[block])
        return rows, scores

    def _scores(self, queries: np.ndarray, matches: sparse.csr_array) -> np.ndarray:
        """Return (Q, N) float64."""
        scores = (matches.astype(np.float64) @ self._by_token).toarray()
        queries = self._prepare(queries).astype(np.float64)
        for part in parts_of(len(self._vectors), _CONVERTED):
            papers = self._prepare(self._vectors[part]).astype(np.float64)
            scores[:, part] += queries @ papers.T
        return scores
