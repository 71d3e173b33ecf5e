"""Exact search by cosine similarity or inner product.

Candidates are proposed in float32, whose last digits change with threads and block sizes; their
scores are then computed anew in float64, each by itself, so that the ranking depends on nothing
but the vectors. Where the proposal might be short of a paper, more are proposed, then all papers
are scored. Papers are read block by block, once a search, so that a memory-mapped matrix may be
larger than memory.

A method that has no vector of a paper, but zeros, knows nothing of it and cannot recommend it: such
papers come last. By the formula they would score 0, above all papers of negative similarity.
"""

import copy
from collections.abc import Callable
from typing import Self

import numpy as np

from mpbert.foundation.progress import progress
from mpbert.retrieval.options import COSINE, DOT
from mpbert.retrieval.proposals import Proposals, parts_of
from mpbert.retrieval.ranking import num_ranked, sort_by_score, top_k
from mpbert.vectors.normal import normalized

_SPARE = (5, 255)  # candidates beyond the cutoff: at first, and where these do not suffice
_NOISE = 1e-5  # bound of the error of a float32 inner product of vectors no longer than 1
PAPERS = 1 << 14  # papers in memory at once, as float32
_CONVERTED = 1024  # papers converted at once: they lie in memory as float64
RESCORED = 64  # queries rescored at once: their candidates lie in memory as float64


# similarity -> what is done to vectors whose inner product it then is
_PREPARED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    **{COSINE: normalized, DOT: lambda vectors: np.ascontiguousarray(vectors, dtype=np.float32)}
}


class DenseIndex:
    """All papers by their vectors; :meth:`within` is an index of some of them.

    :param vectors: (N, D), of any length, mapped or not; they are not copied. A paper whose row
        is zeros has no vector and gets the least score there can be.
    :param similarity: ``cosine`` or ``dot``.
    """

    def __init__(self, vectors: np.ndarray, similarity: str = "cosine") -> None:
        self._prepare = _PREPARED[similarity]
        self._vectors = vectors
        lengths = [_lengths(self._exact(part)) for part in parts_of(len(vectors), _CONVERTED)]
        lengths = np.concatenate([np.zeros(0), *lengths])  # (N,)
        self._longest = lengths.max(initial=0.0) or 1.0
        self._has_vector = lengths > 0
        self._choose(np.ones(len(vectors), dtype=bool))

    def within(self, papers: np.ndarray) -> Self:
        """Return an index of some of the papers; vectors and their lengths are shared.

        :param papers: (N,) whether a paper is a candidate.
        """
        if np.array_equal(papers, self._is_candidate):
            return self
        part = copy.copy(self)
        part._choose(papers)
        return part

    def _choose(self, papers: np.ndarray) -> None:
        self._is_candidate = papers  # (N,)
        self._rows = np.flatnonzero(papers & self._has_vector)  # (M,)
        self._rest = np.flatnonzero(papers & ~self._has_vector)

    def search(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most similar papers of each query, best first.

        :param queries: (Q, D).
        :param excluded_rows: (Q,) or (1,) row of the citing paper, which is no candidate, or -1.
        :returns: (Q, K) rows and (Q, K) float64 scores; K is smaller than k where the papers are
            too few.
        """
        k = self._num_ranked(k, excluded_rows)
        excluded_rows = np.broadcast_to(excluded_rows, len(queries))
        rows = np.empty((len(queries), k), dtype=np.int64)
        scores = np.empty((len(queries), k))
        if not k:
            return rows, scores
        todo = np.arange(len(queries))
        for spare in _SPARE:
            found, lowest = self._propose(queries[todo], min(k + 1 + spare, len(self._rows)))
            is_sure = np.zeros(len(todo), dtype=bool)
            for block in parts_of(len(todo), RESCORED):
                some = todo[block]
                rows[some], scores[some], is_sure[block] = self._rescore(
                    queries[some], found[block], lowest[block], k, excluded_rows[some]
                )
            todo = todo[~is_sure]
        for query in todo:
            rows[query], scores[query] = self._search_all(queries[query], k, excluded_rows[query])
        return rows, scores

    def scores_of(self, queries: np.ndarray, asked: np.ndarray, papers: np.ndarray) -> np.ndarray:
        """Return (P,) scores of pairs, those that :meth:`search` gives them.

        :param queries: (Q, D).
        :param asked: (P,) rows of the queries; ``papers`` (P,) rows of the papers.
        """
        exact = self._prepare(queries)
        below = -_lengths(exact) * self._longest - _NOISE  # (Q,) of papers without a vector
        scores = np.empty(len(asked))
        for part in parts_of(len(asked), _CONVERTED):
            some = exact[asked[part]].astype(np.float64)
            found = np.einsum("pd,pd->p", some, self._exact(papers[part]))
            scores[part] = np.where(self._has_vector[papers[part]], found, below[asked[part]])
        return scores

    def _num_ranked(self, k: int, excluded_rows: np.ndarray) -> int:
        inside = self._is_candidate[np.maximum(excluded_rows, 0)]
        num_papers = len(self._rows) + len(self._rest)
        return num_ranked(k, num_papers, np.where(inside, excluded_rows, -1))

    def _propose(self, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (Q, depth) rows of the largest float32 scores, and (Q,) the least of these."""
        unit = normalized(queries)
        if not len(queries) or not depth:
            return np.zeros((len(queries), depth), np.int64), np.full(len(queries), -np.inf)
        proposals = Proposals(unit, depth, len(self._rows))
        parts = parts_of(len(self._rows), PAPERS)
        for part in progress(parts, "dense search", "block") if len(parts) > 1 else parts:
            paper_rows = self._rows[part]
            proposals.add(self._unit(paper_rows), paper_rows)
        return proposals.rows, proposals.scores.min(axis=1)

    def _unit(self, rows: np.ndarray) -> np.ndarray:
        """Return papers, in float32, as vectors no longer than 1."""
        papers = np.empty((len(rows), self._vectors.shape[1]), dtype=np.float32)
        for part in parts_of(len(rows), _CONVERTED):
            some = self._prepare(self._vectors[rows[part]])
            is_unit = self._prepare is normalized
            papers[part] = some if is_unit else some.astype(np.float64) / self._longest
        return papers

    def _exact(self, rows: np.ndarray | slice) -> np.ndarray:
        return self._prepare(self._vectors[rows]).astype(np.float64)

    def _rescore(
        self,
        queries: np.ndarray,
        found: np.ndarray,
        lowest: np.ndarray,
        k: int,
        excluded_rows: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows and exact scores of the k best, and whether no other paper can be one.

        :param found: (Q, depth) proposed rows; ``lowest`` (Q,) the least score of a proposal.
        """
        queries = self._prepare(queries)
        is_complete = found.shape[1] == len(self._rows)
        rows = found
        if is_complete:
            rest = self._rest[: k + 1]
            rows = np.hstack([rows, np.broadcast_to(rest, (len(rows), len(rest)))])
        rows = np.sort(rows, axis=1)
        papers = self._exact(rows.ravel()).reshape(*rows.shape, -1)
        scores = np.einsum("qd,qkd->qk", queries.astype(np.float64), papers)
        scale = _lengths(queries) * self._longest  # (Q,) the largest score there can be
        below = -scale[:, None] - _NOISE  # a query of zeros has the scale 0
        scores = np.where(self._has_vector[rows], scores, below)
        scores[rows == excluded_rows[:, None]] = -np.inf
        rows, scores = sort_by_score(rows, scores)
        rows, scores = rows[:, :k], scores[:, :k]
        if is_complete:
            return rows, scores, np.ones(len(rows), dtype=bool)
        worst = scores[:, -1] / np.where(scale > 0, scale, 1)  # as a proposal would score it
        return rows, scores, lowest < worst - _NOISE

    def _rank_found(
        self,
        queries: np.ndarray,
        k: int,
        excluded_rows: np.ndarray,
        found: np.ndarray,
        is_full: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and exact scores of the k best of what another index found.

        :param found: (M, depth) distinct rows, for the M queries of which enough was found.
        :param is_full: (Q,) which these are; the others are searched exactly.
        """
        rows, scores = np.zeros((len(queries), k), dtype=np.int64), np.zeros((len(queries), k))
        excluded_rows = np.broadcast_to(excluded_rows, len(queries))
        full, unbounded = np.flatnonzero(is_full), np.full(RESCORED, -np.inf)
        for block in parts_of(len(full), RESCORED):
            some = full[block]
            rows[some], scores[some], _ = self._rescore(
                queries[some], found[block], unbounded[: len(some)], k, excluded_rows[some]
            )
        short = np.flatnonzero(~is_full)
        if len(short):
            exact = DenseIndex.search(self, queries[short], k, excluded_rows[short])
            rows[short], scores[short] = exact
        return rows, scores

    def _search_all(
        self, query: np.ndarray, k: int, excluded_row: int
    ) -> tuple[np.ndarray, np.ndarray]:
        exact = self._prepare(query[None])[0].astype(np.float64)
        scores = np.full((1, len(self._vectors)), -np.inf)  # enough have a vector: see the caller
        for part in parts_of(len(self._rows), _CONVERTED):
            rows = self._rows[part]
            scores[0, rows] = np.einsum("d,nd->n", exact, self._exact(rows))
        rows, best = top_k(scores, k, np.array([excluded_row]))
        return rows[0], best[0]


def _lengths(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("md,md->m", vectors, vectors, dtype=np.float64))
