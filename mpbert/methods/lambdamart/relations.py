"""What the first papers of a query tell of one another: co-citations and citations.

A candidate that is often cited together with other good candidates is a better one. With p(i | q),
the share of candidate i in the odds of the fusion, the feature of candidate d is

    f(q, d) = Σ_i p(i | q) · count(i, d) / Σ_j count(i, j),

where count(i, d) says how often both are cited together: by a context, or by a paper (Zhang & Ma,
WI-IAT 2021, Eq. 1), or whether i cites d, or d cites i. All counts are of training contexts up to
the query's year.
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from mpbert.corpus.cocitation import cocitation_counts, merge_by_paper
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.methods.lambdamart.features import candidates_of
from mpbert.methods.rankings import Ranking

NAMES = ["cocited_in_contexts", "cocited_by_papers", "cited_by_the_first", "cites_the_first"]
_BLOCK = 1 << 24  # sums that lie in memory at once


def relation_features(store: CorpusStore, queries: Queries, first: Ranking) -> list[np.ndarray]:
    """Return the (M,) features of :data:`NAMES` of all papers of a ranking, query after query.

    :param first: candidates; its scores are logarithms of odds.
    """
    found, shares = candidates_of(first), _shares(first)
    size = max(_BLOCK // store.num_papers, 1)
    columns = [np.zeros(len(found.rows)) for _ in NAMES]
    for chosen, year in _by_year(queries.years, store.contexts("train").years):
        counts = [_by_sum(matrix) for matrix in relations(store, year)]
        for block in np.split(chosen, range(size, len(chosen), size)):
            place, rank = np.nonzero(first.rows[block] >= 0)
            papers = first.rows[block][place, rank]
            of_block = sparse.csr_array(
                (shares[block][place, rank], (place, papers)), (len(block), store.num_papers)
            )
            wanted = found.offsets[:-1][block][place] + rank
            for column, matrix in zip(columns, counts, strict=True):
                column[wanted] = (of_block @ matrix).toarray()[place, papers]
    return columns


def relations(store: CorpusStore, year: int) -> list[sparse.csr_array]:
    """Return (N, N) counts for each of :data:`NAMES`, known in a year: (i, d) of i with d."""
    training, shape = store.contexts("train"), (store.num_papers, store.num_papers)
    training = training.take(np.flatnonzero(training.years <= year))
    units = training.cited_offsets, training.cited_rows
    by_paper = merge_by_paper(training.citing_rows, *units)
    citing = np.repeat(np.unique(training.citing_rows), np.diff(by_paper[0]))
    cites = sparse.csr_array((np.ones(len(citing)), (citing, by_paper[1])), shape)
    together = [cocitation_counts(*of, store.num_papers) for of in (units, by_paper)]
    return [*map(sparse.csr_array, together), cites, cites.T.tocsr()]


def _shares(first: Ranking) -> np.ndarray:
    """Return (Q, K) shares of the odds, which sum up to 1; 0 beyond the end of a list."""
    best = first.scores.max(axis=1, keepdims=True, initial=-np.inf)
    odds = np.exp(first.scores - np.where(np.isfinite(best), best, 0.0))
    return odds / np.maximum(odds.sum(axis=1, keepdims=True), 1e-300)


def _by_sum(counts: sparse.csr_array) -> sparse.csr_array:
    """Return counts divided by the sum of their row."""
    sums = np.asarray(counts.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(1 / np.maximum(sums, 1)) @ counts)


def _by_year(years: np.ndarray, training: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Yield the queries that know the same training contexts, and the last year of those."""
    last = np.minimum(years, training.max(initial=0))
    for year in np.unique(last):
        yield np.flatnonzero(last == year), int(year)
