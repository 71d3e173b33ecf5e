"""Subsets of the queries of one qrels file: by number of cited papers, by co-citation history.

MP-BERT4CR (Zhang & Ma, WI-IAT 2021) reports P = 1, P >= 1 and P >= 2 (Sec. 5.4) and says in its
introduction, without a table, that it gains where papers have often been cited together before.
The second split makes that claim measurable.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # to tell types
    from scipy.sparse import csr_matrix

# those of all_subsets
SUBSETS = ("P=1", "P>=1", "P>=2", "unseen", "low", "high", "rare", "other")


@dataclass(frozen=True)
class Subset:
    """Some of the queries.

    :param name: such as ``P>=2``, used in files.
    :param title: such as ``P ≥ 2``, for a reader.
    :param mask: (Q,) True for its queries.
    """

    name: str
    title: str
    mask: np.ndarray

    def __len__(self) -> int:
        return int(self.mask.sum())


def subsets_by_num_gold(num_gold: np.ndarray) -> list[Subset]:
    """Return P = 1, P >= 1 (all queries) and P >= 2: by the number of papers a context cites."""
    return [
        Subset("P=1", "P = 1", num_gold == 1),
        Subset("P>=1", "P ≥ 1", num_gold >= 1),
        Subset("P>=2", "P ≥ 2", num_gold >= 2),
    ]


def mean_pair_frequency(
    gold_offsets: np.ndarray, gold_rows: np.ndarray, counts: "csr_matrix"
) -> np.ndarray:
    """Return (Q,) how often two papers cited by a query were cited together before, on average.

    With G papers: 2 / (G·(G-1)) · Σ_{i<j} count(i, j); NaN where G = 1, as there is no pair.

    :param gold_offsets: (Q + 1,) query i cites ``gold_rows[gold_offsets[i]:gold_offsets[i + 1]]``.
    :param counts: (N, N) symmetric co-citation counts of the training contexts, empty diagonal.
    """
    from scipy.sparse import csr_array

    num_gold = np.diff(gold_offsets)
    cited = csr_array(
        (np.ones(len(gold_rows)), gold_rows, gold_offsets), shape=(len(num_gold), counts.shape[0])
    )
    both_orders = (cited @ csr_array(counts)).multiply(cited).sum(axis=1)  # (Q,)
    with np.errstate(invalid="ignore"):
        return both_orders / (num_gold * (num_gold - 1.0))


def subsets_by_frequency(frequency: np.ndarray) -> tuple[list[Subset], float]:
    """Return queries whose cited papers were cited together never, seldom or often; the median.

    ``unseen`` has mean pair frequency 0; the others are ``low`` up to their median, ``high`` above
    it. The median leaves out the unseen: where they are the majority it would be 0.

    :param frequency: (Q,) of :func:`mean_pair_frequency`; NaN belongs to no subset.
    :returns: the three subsets; the median of the seen ones, NaN where there are none.
    """
    seen = frequency > 0
    median = float(np.median(frequency[seen])) if seen.any() else float("nan")
    return [
        Subset("unseen", "unseen", frequency == 0),
        Subset("low", "low", seen & (frequency <= median)),
        Subset("high", "high", seen & (frequency > median)),
    ], median


def halves_by_frequency(frequency: np.ndarray) -> list[Subset]:
    """Return queries of several papers: ``rare`` up to their median co-citation count, ``other``.

    Here the median is of all, the unseen among them: where these are the majority it is 0.

    :param frequency: (Q,) of :func:`mean_pair_frequency`; NaN belongs to no subset.
    """
    known = ~np.isnan(frequency)
    median = float(np.median(frequency[known])) if known.any() else 0.0
    rare = known & (frequency <= median)
    return [Subset("rare", "rare", rare), Subset("other", "other", known & ~rare)]


def all_subsets(num_gold: np.ndarray, frequency: np.ndarray) -> list[Subset]:
    """Return every subset, in the order of :data:`SUBSETS`.

    :param frequency: (Q,) of :func:`mean_pair_frequency`.
    """
    by_frequency, _ = subsets_by_frequency(frequency)
    return [*subsets_by_num_gold(num_gold), *by_frequency, *halves_by_frequency(frequency)]
