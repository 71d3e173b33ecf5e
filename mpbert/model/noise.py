"""The two noise distributions of MP-BERT4CR: Zhang & Ma (WI-IAT 2021), Sec. 4.1.3-4.1.4.

Counts come from the training contexts alone. All samples are for whole batches, by keys of
(seed, visit, item).
"""

import numpy as np
from scipy.sparse import csr_matrix

from mpbert.corpus.binary import BinaryContexts
from mpbert.corpus.cocitation import citation_counts, cocitation_counts, merge_by_paper
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.ragged import budget_batches, ranges, row_numbers, smallest_per_row
from mpbert.foundation.seeding import hashed_uniform
from mpbert.model.config import NoiseConfig

_MAX_CANDIDATES = 1 << 21  # weighted at once: bounds memory, does not change the samples
_MAX_TRIES = 100  # to draw a paper that the context does not cite


def positive_weights(cocitations: np.ndarray, power: float) -> np.ndarray:
    """Return (M,) weights of candidates for a positive: Zhang & Ma (WI-IAT 2021), Eq. 1.

    p(i) ~ frequency(target, i)^power, power 3/4.

    :param cocitations: (M,) how often each candidate is cited together with its target.
    """
    return cocitations.astype(np.float64) ** power


def negative_weights(citations: np.ndarray, power: float) -> np.ndarray:
    """Return (N,) weights of papers as negatives: Zhang & Ma (WI-IAT 2021), Eq. 2.

    p(i) ~ count(i)^power, power 3/4; papers never cited are never drawn.

    :param citations: (N,) how often each paper is cited.
    """
    counted = np.maximum(citations, 1).astype(np.float64)
    return np.where(citations > 0, counted**power, 0.0)


class Noise:
    """Both distributions, counted on the training contexts.

    :param train: contexts of the training split.
    """

    def __init__(self, train: BinaryContexts, num_papers: int, config: NoiseConfig) -> None:
        self.config = config
        self.citations = citation_counts(train.cited_rows, num_papers)
        self.distribution = NegativeDistribution(self.citations, config.negative_power)
        units = (train.cited_offsets, train.cited_rows)
        if config.cocitation_unit == "paper":
            units = merge_by_paper(train.citing_rows, *units)
        self.cocitations = cocitation_counts(*units, num_papers)

    def positives(
        self,
        targets: np.ndarray,
        citing: np.ndarray,
        items: np.ndarray,
        gold_offsets: np.ndarray,
        gold_rows: np.ndarray,
        seed: int,
        visit: int,
    ) -> np.ndarray:
        """Draw co-citations of each target by :func:`positive_weights`, without replacement.

        ``positives_from`` says among which papers.

        :param targets: (B,) row of each example's target; ``citing`` (B,) of its manuscript.
        :param items: (B,) number of each example, the key of its draw.
        :param gold_offsets: (B + 1,) and ``gold_rows``: all papers that each context cites.
        :returns: (B, P) rows, -1 where there are fewer.
        """
        if self.config.positives_from == "history":
            return self._from_history(targets, citing, items, seed, visit)
        sizes = np.diff(gold_offsets)
        return self._from_context(targets, items, row_numbers(sizes), gold_rows, seed, visit)

    def _from_context(
        self,
        targets: np.ndarray,
        items: np.ndarray,
        owner: np.ndarray,
        gold_rows: np.ndarray,
        seed: int,
        visit: int,
    ) -> np.ndarray:
        """Draw among the other papers of each context, ``gold_rows`` by ``owner``.

        A pair never seen in training counts as seen once, so that it comes last but can come.
        """
        other = gold_rows != targets[owner]
        rows, owner = gold_rows[other], owner[other]
        frequency = np.maximum(_lookup(self.cocitations, targets[owner], rows), 1.0)
        return self._drawn(rows, owner, frequency, items, seed, visit)

    def _from_history(
        self, targets: np.ndarray, citing: np.ndarray, items: np.ndarray, seed: int, visit: int
    ) -> np.ndarray:
        """Draw among all papers ever cited together with each target, less the manuscript.

        The other understanding of Eq. 1, whose printed denominator runs over the whole collection.
        """
        counts = self.cocitations
        sizes = np.diff(counts.indptr)[targets]
        positives = np.empty((len(items), self.config.positives), dtype=np.int64)
        for part in budget_batches(sizes, np.arange(len(items)), _MAX_CANDIDATES, None):
            places = ranges(counts.indptr[targets[part]], sizes[part])
            rows, owner = counts.indices[places], row_numbers(sizes[part])
            other = rows != citing[part][owner]
            found = rows[other], owner[other], counts.data[places][other]
            positives[part] = self._drawn(*found, items[part], seed, visit)
        return positives

    def _drawn(
        self,
        rows: np.ndarray,
        owner: np.ndarray,
        frequency: np.ndarray,
        items: np.ndarray,
        seed: int,
        visit: int,
    ) -> np.ndarray:
        """Draw without replacement: the smallest of exponential keys with rate = weight.

        Efraimidis & Spirakis (IPL 2006), for all examples at once.
        """
        limit = self.config.positives
        sizes = np.bincount(owner, minlength=len(items))
        weights = positive_weights(frequency, self.config.positive_power)
        keys = -np.log(hashed_uniform(seed, "positives", visit, items[owner], rows)) / weights
        taken = smallest_per_row(keys, sizes, np.full(len(items), limit))
        positives = np.full((len(items), limit), -1, dtype=np.int64)
        taken_sizes = np.minimum(sizes, limit)
        place = ranges(np.zeros(len(items)), taken_sizes)
        positives[row_numbers(taken_sizes), place] = rows[taken]
        return positives

    def negatives(
        self,
        items: np.ndarray,
        forbidden_offsets: np.ndarray,
        forbidden_rows: np.ndarray,
        seed: int,
        visit: int,
    ) -> np.ndarray:
        """Return (B, K) rows of negatives.

        Parameters are those of :meth:`NegativeDistribution.sample`.
        """
        return self.distribution.sample(
            items, forbidden_offsets, forbidden_rows, self.config.negatives, seed, visit
        )


class NegativeDistribution:
    """Draws negatives by :func:`negative_weights`, searching the cumulative distribution."""

    def __init__(self, counts: np.ndarray, power: float) -> None:
        """Prepare the search.

        :param counts: (N,) citations of each paper in the training contexts.
        :raises CorpusError: fewer than two papers are ever cited.
        """
        weights = negative_weights(counts, power)
        if (weights > 0).sum() < 2:
            raise CorpusError(
                "the training contexts cite fewer than two papers; negatives need more: "
                "build the corpus with more papers or another split"
            )
        self.rows = np.flatnonzero(weights)
        self.cumulative = np.cumsum(weights[self.rows])

    def sample(
        self,
        items: np.ndarray,
        gold_offsets: np.ndarray,
        gold_rows: np.ndarray,
        num_negatives: int,
        seed: int,
        visit: int,
    ) -> np.ndarray:
        """Return (B, K) rows, never a paper that the context cites; by rejection.

        :param items: (B,) number of each training example, the key of its draw.
        :param gold_offsets: (B + 1,) and ``gold_rows``: all papers that each context cites.
        :raises CorpusError: after ``_MAX_TRIES`` a context still meets only its own citations.
        """
        num_papers = int(max(self.rows[-1], gold_rows.max(initial=0))) + 1
        owner = row_numbers(np.diff(gold_offsets))
        forbidden = np.sort(owner * num_papers + gold_rows, kind="stable")  # of nearly sorted
        place = np.arange(num_negatives)
        todo = np.ones((len(items), num_negatives), dtype=bool)
        negatives = np.empty((len(items), num_negatives), dtype=np.int64)
        for attempt in range(_MAX_TRIES):
            example, column = np.nonzero(todo)
            u = hashed_uniform(seed, "negatives", visit, items[example], place[column], attempt)
            found = np.searchsorted(self.cumulative, u * self.cumulative[-1], side="right")
            drawn = self.rows[np.minimum(found, len(self.rows) - 1)]
            negatives[example, column] = drawn
            todo[example, column] = _contains(forbidden, example * num_papers + drawn)
            if not todo.any():
                return negatives
        raise CorpusError(
            f"no negative found in {_MAX_TRIES} tries for a context that cites nearly every cited "
            f"paper; expected more papers, or less than --settings negatives={num_negatives}"
        )


def _contains(sorted_codes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    places = np.minimum(np.searchsorted(sorted_codes, codes), max(len(sorted_codes) - 1, 0))
    return sorted_codes[places] == codes if len(sorted_codes) else np.zeros(len(codes), bool)


def _lookup(counts: csr_matrix, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    if len(rows) == 0:
        return np.zeros(0)
    return np.asarray(counts[rows, columns], dtype=np.float64).ravel()
