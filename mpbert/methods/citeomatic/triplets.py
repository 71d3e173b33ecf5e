"""Triplets of a query, a paper that it cites and one that it does not: Bhagavatula et al.

(NAACL 2018), Sec. 3, "Selecting negative examples", and App. C. Three kinds of negatives, sampled
equally often: any paper; a near neighbour of the query, which the caller finds; a paper cited by
one that the query cites. A query that has none of the kind gets any paper instead, or no triplet
where any paper is not among the kinds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mpbert.corpus.store import Queries
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.ragged import offsets_of, row_numbers

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse

RANDOM, NEIGHBOUR, CITED_BY_CITED = KINDS = range(3)
_ROUNDS = 5  # samples before a kind is given up, then as many of any paper


@dataclass(frozen=True)
class Triplets:
    """Rows of queries, of papers they cite and of papers they do not, and the kinds of the latter.

    All are (T,).
    """

    queries: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray
    kinds: np.ndarray

    def __len__(self) -> int:
        return len(self.queries)

    def take(self, places: np.ndarray) -> "Triplets":
        """Return these triplets."""
        return Triplets(
            self.queries[places], self.positives[places], self.negatives[places], self.kinds[places]
        )

    def shifted(self, first: int) -> "Triplets":
        """Return the triplets with query 0 called ``first``, 1 the next number, and so on."""
        return replace(self, queries=self.queries + first)

    def split(self, num: int) -> list["Triplets"]:
        """Return the triplets in parts of nearly the same size: ``num``, or fewer of one each.

        :raises CorpusError: there are none.
        """
        if not len(self):
            raise CorpusError(
                "found no triplet to learn from: no training query has a paper that may be its "
                "negative; expected some, choose other years, other lists or a larger depth, or "
                "other settings of the negatives"
            )
        places = np.arange(len(self))
        return [self.take(part) for part in np.array_split(places, min(num, len(self)))]

    @staticmethod
    def joined(parts: Sequence["Triplets"]) -> "Triplets":
        """Return the triplets of all parts."""
        columns = zip(*((p.queries, p.positives, p.negatives, p.kinds) for p in parts), strict=True)
        return Triplets(*map(np.concatenate, columns))


class TripletSampler:
    """Samples triplets, every pair of a query and a paper it cites equally often.

    :param cited: (Q, N), not 0 where a query cites a paper.
    :param citing_rows: (Q,) row of the paper that a query is of; never sampled for it.
    :param citations: (N, N) of training papers: row cites column.
    :param pool: (M,) rows of the papers that may be sampled.
    :param whole: whether no other citation of the query's paper is a negative.
    :param kinds: of negatives, sampled equally often.
    :raises CorpusError: no query cites a paper of the pool.
    """

    def __init__(
        self,
        cited: "sparse.csr_array",
        citing_rows: np.ndarray,
        citations: "sparse.csr_array",
        pool: np.ndarray,
        whole: bool,
        kinds: Sequence[int] = KINDS,
    ) -> None:
        self._kinds = np.array(kinds)
        shape, self._num_papers, self._pool = cited.shape, cited.shape[1], np.sort(pool)
        in_pool = np.zeros(shape[1], dtype=bool)
        in_pool[pool] = True
        query, paper = cited.nonzero()
        known = in_pool[paper]
        self.pairs = query[known], paper[known]  # of queries and the papers they cite
        if not known.any():
            raise CorpusError(
                "no training query cites a training paper; expected citations within the training "
                "split, choose other years"
            )
        from scipy import sparse

        own = sparse.csr_array((np.ones(shape[0]), (np.arange(shape[0]), citing_rows)), shape)
        excluded = cited + own + (own @ citations if whole else 0 * own)
        query, paper = excluded.nonzero()
        self._excluded = np.unique(query * shape[1] + paper)
        query, paper = (cited @ citations).nonzero()
        allowed = in_pool[paper] & ~self.is_excluded(query, paper)
        query, self._second = query[allowed], paper[allowed]
        order = np.lexsort((self._second, query))
        self._second = self._second[order]
        self._second_offsets = offsets_of(np.bincount(query, minlength=shape[0]))

    def is_excluded(self, query: np.ndarray, paper: np.ndarray) -> np.ndarray:
        """Return whether each paper is never a negative of the query; both of any one shape."""
        keys = query.astype(np.int64) * self._num_papers + paper
        at = np.minimum(np.searchsorted(self._excluded, keys), len(self._excluded) - 1)
        return self._excluded[at] == keys

    def sample(
        self,
        num: int,
        rng: np.random.Generator,
        neighbours: np.ndarray,
        accepts: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ) -> Triplets:
        """Return triplets in random order; fewer where a query has no negative.

        :param neighbours: (Q, K) rows of papers near each query, whether cited or not; -1 beyond
            the end of a list.
        :param accepts: of (P,) queries and (P,) neighbours, which may be negatives.
        """
        pairs = rng.integers(len(self.pairs[0]), size=num)
        queries, positives = (part[pairs] for part in self.pairs)
        kinds = self._kinds[rng.integers(len(self._kinds), size=num)]
        lengths = (neighbours >= 0).sum(axis=1)
        lacks = (kinds == NEIGHBOUR) & (lengths[queries] == 0)
        lacks |= (kinds == CITED_BY_CITED) & (np.diff(self._second_offsets)[queries] == 0)
        negatives, open_ = np.full(num, -1), np.arange(num)
        any_will_do = RANDOM in self._kinds
        if any_will_do:
            kinds[lacks] = RANDOM
        else:
            open_ = open_[~lacks]
        for round_ in range(2 * _ROUNDS):
            if round_ == _ROUNDS and any_will_do:
                kinds[open_] = RANDOM
            query, kind = queries[open_], kinds[open_]
            found = self._sample(query, kind, rng, neighbours, lengths)
            good = ~self.is_excluded(query, found)
            near = np.flatnonzero(good & (kind == NEIGHBOUR))
            if accepts is not None:
                good[near] = accepts(query[near], found[near])
            negatives[open_[good]] = found[good]
            open_ = open_[~good]
        kept = negatives >= 0
        return Triplets(queries[kept], positives[kept], negatives[kept], kinds[kept])

    def _sample(
        self,
        query: np.ndarray,
        kind: np.ndarray,
        rng: np.random.Generator,
        neighbours: np.ndarray,
        lengths: np.ndarray,
    ) -> np.ndarray:
        found = self._pool[rng.integers(len(self._pool), size=len(query))]
        near, second = np.flatnonzero(kind == NEIGHBOUR), np.flatnonzero(kind == CITED_BY_CITED)
        found[near] = neighbours[query[near], rng.integers(lengths[query[near]])]
        starts = self._second_offsets[query[second]]
        sizes = self._second_offsets[query[second] + 1] - starts
        found[second] = self._second[starts + rng.integers(sizes)]
        return found


def cited_matrix(queries: Queries, num_papers: int) -> "sparse.csr_array":
    """Return (Q, N), 1 where a query cites a paper."""
    ones = np.ones(len(queries.cited_rows), dtype=np.float32)
    places = row_numbers(np.diff(queries.cited_offsets)), queries.cited_rows
    from scipy import sparse

    return sparse.csr_array((ones, places), shape=(len(queries), num_papers))


def percentile_per_row(values: np.ndarray, lengths: np.ndarray, percent: float) -> np.ndarray:
    """Return (M,) percentiles of ragged rows, interpolated linearly; infinity for empty rows.

    :param values: (sum of lengths,).
    :param percent: 0 to 100.
    """
    rows, starts = row_numbers(lengths), offsets_of(lengths)[:-1]
    ascending = np.append(values[np.lexsort((values, rows))], np.inf)
    place = np.maximum(lengths - 1, 0) * percent / 100
    low = np.floor(place).astype(np.int64)
    below = ascending[np.where(lengths > 0, starts + low, -1)]
    above = ascending[np.where(lengths > 0, starts + np.ceil(place).astype(np.int64), -1)]
    share = np.where(lengths > 0, place - low, 0.0)
    with np.errstate(invalid="ignore"):
        return np.where(share > 0, below + share * (above - below), below)
