"""Exact search by a cosine and exact matches of tokens, added up.

All papers are scored block by block; the digits of these scores depend on the blocks. What may be
among the best is then scored anew, one by one, in float64, so that the ranking depends on nothing
but vectors and weights. All weights of tokens lie in memory, twice.
"""

import copy
from typing import Self

import numpy as np
from scipy import sparse

from mpbert.foundation.progress import progress
from mpbert.retrieval.proposals import parts_of
from mpbert.retrieval.ranking import num_ranked, sort_by_score
from mpbert.vectors.normal import normalized

_BLOCK = 256  # queries scored at once: their scores of all papers lie in memory
_CONVERTED = 1 << 14  # papers scored at once: they lie in memory as float64
_NOISE = 1e-9  # bound of what the blocks change in a score


class HybridIndex:
    """All papers by vectors and weights of tokens; :meth:`within` is an index of some of them.

    :param vectors: (N, D), of any length, mapped or not.
    :param matches: (N, V) weights of tokens.
    """

    def __init__(self, vectors: np.ndarray, matches: sparse.csr_array) -> None:
        self._vectors, self._matches = vectors, matches
        self._parts = [  # (V, n) of some papers, by token
            (part, matches[part].astype(np.float64).T.tocsr())
            for part in parts_of(len(vectors), _CONVERTED)
        ]
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
        blocks = parts_of(len(queries), _BLOCK)
        for block in progress(blocks, "search", "block") if len(blocks) > 1 else blocks:
            unit, asked = normalized(queries[block]).astype(np.float64), matches[block]
            found = self._scores(unit, asked)
            found[:, ~self._is_candidate] = -np.inf
            known = np.flatnonzero(excluded_rows[block] >= 0)
            found[known, excluded_rows[block][known]] = -np.inf
            least = np.partition(found, -k, axis=1)[:, -k] - _NOISE
            for i, query in enumerate(range(block.start, block.stop)):
                near = np.flatnonzero(found[i] >= least[i])
                exact = self._exact(unit[i], asked[[i]], near)
                best = sort_by_score(near[None], exact[None])
                rows[query], scores[query] = best[0][0, :k], best[1][0, :k]
        return rows, scores

    def _scores(self, unit: np.ndarray, matches: sparse.csr_array) -> np.ndarray:
        """Return (Q, N) float64."""
        scores, asked = np.empty((len(unit), len(self._vectors))), matches.astype(np.float64)
        for part, by_token in self._parts:
            papers = normalized(self._vectors[part]).astype(np.float64)
            scores[:, part] = (asked @ by_token).toarray()
            scores[:, part] += unit @ papers.T
        return scores

    def _exact(self, unit: np.ndarray, matches: sparse.csr_array, rows: np.ndarray) -> np.ndarray:
        """Return (n,) scores of some papers for one query, each by itself."""
        papers = normalized(self._vectors[rows]).astype(np.float64)
        weights = np.zeros(self._matches.shape[1])
        weights[matches.indices] = matches.data
        some = self._matches[rows].astype(np.float64)
        return np.einsum("d,nd->n", unit, papers) + some @ weights
