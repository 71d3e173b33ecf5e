"""Rankings of papers as arrays, and what is done with them: cut, filtered, joined, sorted."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mpbert.foundation.ragged import offsets_of, row_numbers


class Ranking(NamedTuple):
    """The ranked papers of every query, best first.

    :param rows: (Q, K) rows of papers; -1 beyond the end of a list.
    :param scores: (Q, K) larger is better; -inf beyond the end of a list.
    """

    rows: np.ndarray
    scores: np.ndarray

    def first(self, k: int) -> "Ranking":
        """Return the first k papers of every query."""
        return Ranking(self.rows[:, :k], self.scores[:, :k])

    def take(self, places: np.ndarray) -> "Ranking":
        """Return the rankings of some queries, in the order given.

        :param places: (M,) which ones, as int64.
        """
        return Ranking(self.rows[places], self.scores[places])

    def without(self, dropped: np.ndarray) -> "Ranking":
        """Return the ranking without some papers.

        :param dropped: (Q, K).
        """
        query, rank = np.nonzero((self.rows >= 0) & ~dropped)
        found = self.rows[query, rank], self.scores[query, rank]
        return ranking_of_pairs(query, *found, len(self.rows))

    def reordered(self, scores: np.ndarray) -> "Ranking":
        """Return the first papers by new scores, then the others as they were.

        :param scores: (Q, K) of the first K; those beyond the end of a list do not matter.
        """
        return with_rest(sorted_ranking(self.first(scores.shape[1]).rows, scores), self)

    def scaled_scores(self) -> np.ndarray:
        """Return (Q, K) scores from 0 for the last to 1 for the first paper of each list.

        Those of a list whose scores are all equal are 0, and so are places beyond its end.
        """
        has = self.rows >= 0
        best, worst = (bound[:, None] for bound in self.bounds())
        spread = np.where(best > worst, best - worst, 1.0)
        return np.where(has, np.where(has, self.scores - worst, 0.0) / spread, 0.0)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the (Q,) largest and (Q,) smallest scores; -inf and inf of a list without papers.

        A score that a list has is finite.
        """
        has = self.rows >= 0
        best = np.where(has, self.scores, -np.inf).max(axis=1, initial=-np.inf)
        return best, np.where(has, self.scores, np.inf).min(axis=1, initial=np.inf)

    def keys(self, num_papers: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what is ranked, query after query: query · N + paper, and its rank from 0."""
        queries, ranks = np.nonzero(self.rows >= 0)
        return queries * num_papers + self.rows[queries, ranks], ranks


class Union(NamedTuple):
    """The papers that any of several rankings has, query after query.

    :param offsets: (Q + 1,) where the papers of each query begin.
    :param rows: (M,) papers, ascending in each query.
    """

    offsets: np.ndarray
    rows: np.ndarray

    @property
    def queries(self) -> np.ndarray:
        """(M,) the query of each."""
        return row_numbers(np.diff(self.offsets))

    def places_in(self, ranking: Ranking, num_papers: int) -> np.ndarray:
        """Return (M,) the rank of each paper in a ranking, from 0; -1 where it is not there."""
        keys, ranks = ranking.keys(num_papers)
        order = np.argsort(keys)
        wanted = self.queries * num_papers + self.rows
        at = places_of(keys[order], wanted)
        return np.where(at >= 0, np.append(ranks[order], -1)[at], -1)

    def ranking(self, scores: np.ndarray) -> Ranking:
        """Return the papers by their (M,) scores."""
        found = ranking_of_pairs(self.queries, self.rows, scores, len(self.offsets) - 1)
        return sorted_ranking(found.rows, found.scores)


def union(rankings: Sequence[Ranking], num_papers: int) -> Union:
    """Return all papers that any ranking has.

    :param rankings: of the same queries.
    :param num_papers: N, more than any row.
    """
    keys = np.unique(np.concatenate([ranking.keys(num_papers)[0] for ranking in rankings]))
    counts = np.bincount(keys // num_papers, minlength=len(rankings[0].rows))
    return Union(offsets_of(counts), keys % num_papers)


def places_of(ascending: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return where each of the wanted keys stands among these, or -1."""
    if not len(ascending):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[at] == wanted, at, -1)


def ranking_of_pairs(
    queries: np.ndarray, papers: np.ndarray, scores: np.ndarray, num_queries: int
) -> Ranking:
    """Return pairs of a query and a paper as lists; the order of the pairs is kept.

    :param queries: (M,) ascending; ``papers`` (M,) rows, ``scores`` (M,).
    """
    lengths = np.bincount(queries, minlength=num_queries)
    shape = num_queries, int(lengths.max(initial=1))
    rows, matrix = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf)
    places = queries, np.arange(len(queries)) - offsets_of(lengths)[:-1][queries]
    rows[places], matrix[places] = papers, scores
    return Ranking(rows, matrix)


def sorted_ranking(rows: np.ndarray, scores: np.ndarray) -> Ranking:
    """Return papers by the tie rule: larger score first, then the smaller row.

    :param rows: (Q, K) in any order; -1 for none.
    :param scores: (Q, K); those of no paper do not matter.
    """
    scores = np.where(rows < 0, -np.inf, scores)
    order = np.lexsort((rows, -scores), axis=1)
    return Ranking(
        np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)
    )


def stacked(rankings: Sequence[Ranking]) -> Ranking:
    """Return one ranking of queries that are ranked for in one of several rankings each.

    :param rankings: (Q, K) each, of the same queries; a query has papers in one of them at most.
    """
    width = max(ranking.rows.shape[1] for ranking in rankings)
    shape = len(rankings[0].rows), width
    rows, scores = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf)
    for ranking in rankings:
        has = np.flatnonzero((ranking.rows >= 0).any(axis=1))
        depth = ranking.rows.shape[1]
        rows[has, :depth], scores[has, :depth] = ranking.rows[has], ranking.scores[has]
    return Ranking(rows, scores)


def with_rest(first: Ranking, ranking: Ranking) -> Ranking:
    """Return the papers of ``first``, which are the first of ``ranking``, then the rest of it.

    The rest keeps its order; its scores are 1, 2, ... below the lowest of ``first``.
    """
    depth = first.rows.shape[1]
    rest = ranking.rows[:, depth:]
    lowest = np.where(first.rows >= 0, first.scores, np.inf).min(axis=1, initial=np.inf)
    lowest = np.where(np.isfinite(lowest), lowest, 0.0)
    below = lowest[:, None] - np.arange(1, rest.shape[1] + 1)
    return Ranking(
        np.concatenate([first.rows, rest], axis=1),
        np.concatenate([first.scores, np.where(rest >= 0, below, -np.inf)], axis=1),
    )


def reciprocal_ranks(places: np.ndarray, k: int) -> np.ndarray:
    """Return 1 / (k + rank): Cormack, Clarke and Büttcher (SIGIR 2009).

    :param places: rank from 0; -1 for a paper that is not ranked, which gets 0.
    """
    return np.where(places >= 0, 1 / (k + places + 1), 0.0)


def fuse_reciprocal(rankings: Sequence[Ranking], num_papers: int, k: int = 60) -> Ranking:
    """Return the union of rankings by the sum of their reciprocal ranks; it needs no training.

    :param rankings: of the same queries.
    :param num_papers: N, more than any row.
    """
    found = union(rankings, num_papers)
    ranks = [reciprocal_ranks(found.places_in(r, num_papers), k) for r in rankings]
    return found.ranking(np.stack(ranks, axis=1).sum(axis=1))
