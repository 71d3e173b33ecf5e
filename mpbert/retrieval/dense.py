"""Exact search by cosine similarity or inner product.

FAISS proposes candidates in float32, whose last digits change with threads and block sizes; their
scores are then computed anew in float64, each by itself, so that the ranking depends on nothing
but the vectors. Where the proposal might be short of a paper, all papers are scored.

A method that has no vector of a paper, but zeros, knows nothing of it and cannot recommend it: such
papers come last. By the formula they would score 0, above all papers of negative similarity.
"""

from collections.abc import Callable

import faiss
import numpy as np

from mpbert.progress import progress
from mpbert.retrieval.ranking import num_ranked, sort_by_score, top_k
from mpbert.vectors.normal import normalized

_SPARE = 27  # candidates beyond the cutoff
_NOISE = 1e-5  # bound of the error of a float32 inner product of vectors no longer than 1
_BLOCK = 1024  # queries searched at once
_RESCORED = 64  # queries rescored at once: their candidates lie in memory as float64


def _as_they_are(vectors: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(vectors, dtype=np.float32)


# similarity -> what is done to vectors whose inner product it then is
SIMILARITIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cosine": normalized,
    "dot": _as_they_are,
}


class DenseIndex:
    """All papers by their vectors.

    :param vectors: (N, D), of any length; zeros, no vector, get the least score there can be.
    :param similarity: ``cosine`` or ``dot``.
    """

    def __init__(self, vectors: np.ndarray, similarity: str = "cosine") -> None:
        self._prepare = SIMILARITIES[similarity]
        self._vectors = self._prepare(vectors)
        lengths = _lengths(self._vectors)
        self._longest = lengths.max(initial=0.0) or 1.0
        self._has_vector = lengths > 0
        self._rows = np.flatnonzero(self._has_vector)  # (M,) of the index
        self._index = faiss.IndexFlatIP(vectors.shape[1])  # of vectors no longer than 1
        for start in range(0, len(self._rows), _BLOCK):
            block = self._vectors[self._rows[start : start + _BLOCK]].astype(np.float64)
            self._index.add((block / self._longest).astype(np.float32))

    def search(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most similar papers of each query, best first.

        :param queries: (Q, D).
        :param excluded_rows: (Q,) row of the citing paper, which is no candidate, or -1.
        :returns: (Q, K) rows and (Q, K) float64 scores; K is smaller than k where the papers are
            too few.
        """
        k = num_ranked(k, len(self._vectors), excluded_rows)
        rows = np.empty((len(queries), k), dtype=np.int64)
        scores = np.empty((len(queries), k))
        starts = range(0, len(queries), _BLOCK)
        for start in progress(starts, "dense search", "block"):
            block = slice(start, start + _BLOCK)
            rows[block], scores[block] = self._search(queries[block], k, excluded_rows[block])
        return rows, scores

    def _search(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        depth = min(k + 1 + _SPARE, len(self._rows))
        proposed, found = np.empty((len(queries), 0)), np.empty((len(queries), 0), dtype=np.int64)
        if depth:
            proposed, found = self._index.search(normalized(queries), depth)  # (Q, depth) each
        queries = self._prepare(queries)
        rows = self._rows[found]
        if depth == len(self._rows):
            rest = np.flatnonzero(~self._has_vector)[: k + 1]
            rows = np.hstack([rows, np.broadcast_to(rest, (len(rows), len(rest)))])
        rows = np.sort(rows, axis=1)
        scores = np.empty(rows.shape)
        for start in range(0, len(queries), _RESCORED):
            block = slice(start, start + _RESCORED)
            scores[block] = np.einsum(
                "qd,qkd->qk",
                queries[block].astype(np.float64),
                self._vectors[rows[block]].astype(np.float64),
            )
        scale = _lengths(queries) * self._longest  # (Q,) the largest score there can be
        below = -scale[:, None] - _NOISE  # a query of zeros has the scale 0
        scores = np.where(self._has_vector[rows], scores, below)
        scores[rows == excluded_rows[:, None]] = -np.inf
        rows, scores = sort_by_score(rows, scores)
        rows, scores = rows[:, :k], scores[:, :k]
        if depth < len(self._rows):
            worst = scores[:, -1] / np.where(scale > 0, scale, 1)  # as a proposal would score it
            for query in np.flatnonzero(proposed[:, -1] >= worst - _NOISE):
                rows[query], scores[query] = self._search_all(
                    queries[query], k, excluded_rows[query]
                )
        return rows, scores

    def _search_all(
        self, query: np.ndarray, k: int, excluded_row: int
    ) -> tuple[np.ndarray, np.ndarray]:
        exact = query.astype(np.float64)
        scores = np.empty((1, len(self._vectors)))
        for start in range(0, len(self._vectors), _BLOCK):
            block = self._vectors[start : start + _BLOCK].astype(np.float64)
            scores[0, start : start + _BLOCK] = np.einsum("d,nd->n", exact, block)
        scores[0, ~self._has_vector] = -np.inf  # enough others: see the caller
        rows, best = top_k(scores, k, np.array([excluded_row]))
        return rows[0], best[0]


def _lengths(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("md,md->m", vectors, vectors, dtype=np.float64))
