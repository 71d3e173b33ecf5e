"""Tables of means over queries: rows are systems, columns are a measure on a subset of queries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.evaluation.measures import measure
from mpbert.evaluation.significance import (
    best_other_rows,
    bootstrap_means,
    cluster_sums,
    holm,
    percentile_interval,
    randomization_p_values,
    t_test_p_values,
    with_drawn_seeds,
)
from mpbert.evaluation.subsets import Subset

ALPHA = 0.05
NUM_RESAMPLES = 2000  # of the bootstrap
NUM_SAMPLES = 9999  # of the randomization tests
Compared = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Column:
    """One measure on one subset of the queries."""

    measure: str
    subset: Subset

    @property
    def name(self) -> str:
        """Such as ``Recall@10 P>=1``."""
        return f"{self.measure} {self.subset.name}"


@dataclass(frozen=True)
class Table:
    """All numbers of a table; arrays are (R, J): by row and column. NaN: not to be had.

    :param name: one word, for files.
    :param title: what the table shows.
    :param means: from 0 to 1, over queries and over the seeds of a row.
    :param low: and ``high``, ends of the 95 % intervals of the means.
    :param others: row each row is compared with; -1 where it is compared with none.
    :param differences: mean of the row minus mean of the other one.
    :param differences_low: and ``differences_high``, ends of the 95 % intervals of the differences.
    :param p_randomization: and ``p_t_test``, p-values after Holm's correction over the table.
    """

    name: str
    title: str
    columns: Sequence[Column]
    means: np.ndarray
    low: np.ndarray
    high: np.ndarray
    others: np.ndarray
    differences: np.ndarray
    differences_low: np.ndarray
    differences_high: np.ndarray
    p_randomization: np.ndarray
    p_t_test: np.ndarray

    @property
    def is_best(self) -> np.ndarray:
        """(R, J) whether a row has the largest mean of its column."""
        with np.errstate(invalid="ignore"):
            return self.means == np.max(self.means, axis=0, initial=-1.0)

    @property
    def is_better(self) -> np.ndarray:
        """(R, J) whether a row is significantly better than the best other row."""
        return (self.differences > 0) & (self.p_randomization < ALPHA)

    @property
    def is_level(self) -> np.ndarray:
        """(R, J) whether a row is not the best, yet not significantly worse than the best."""
        return (self.differences <= 0) & ~self.is_best & (self.p_randomization >= ALPHA)

    @property
    def num_comparisons(self) -> int:
        """Number of comparisons that Holm's correction takes into account."""
        return int((~np.isnan(self.p_randomization) & ~_is_mutual(self.others)).sum())


@dataclass(frozen=True)
class Resampling:
    """How often clusters are drawn and exchanged, and which ones.

    :param clusters: (Q,) number of each query's cluster.
    :param num_resamples: of the bootstrap.
    :param num_samples: of the randomization test.
    """

    clusters: np.ndarray
    num_resamples: int
    num_samples: int


def build_table(
    name: str,
    title: str,
    columns: Sequence[Column],
    hits: Sequence[Sequence[np.ndarray]],
    num_gold: np.ndarray,
    resampling: Resampling,
    rng: np.random.Generator,
    whole: bool = False,
    compared_with: Compared = best_other_rows,
) -> Table:
    """Measure, test and give intervals.

    :param hits: for each row and each of its seeds (Q, K), whether the paper at each rank is
        relevant. The value of a query is the mean over the seeds.
    :param num_gold: (Q,) number of relevant papers.
    :param whole: no ranking goes on beyond K, as in :func:`mpbert.evaluation.measures.measure`.
    :param compared_with: from the means to the row each row is compared with.
    """
    of_seeds = [[_values(columns, h, num_gold, whole) for h in seeds] for seeds in hits]
    values = np.array([np.mean(seeds, axis=0) for seeds in of_seeds])  # (R, J, Q)
    masks = np.array([column.subset.mask for column in columns])  # (J, Q)
    data = cluster_sums(values, masks, resampling.clusters)
    means = data.means
    others, cells = compared_with(means), np.arange(len(columns))
    alone = others < 0
    drawn = _resampled(of_seeds, masks, resampling, rng)  # (B, R, J)
    low, high = percentile_interval(drawn)
    differences_low, differences_high = percentile_interval(drawn - drawn[:, others, cells])
    p_randomization = randomization_p_values(data, others, resampling.num_samples, rng)
    return Table(
        name=name,
        title=title,
        columns=columns,
        means=means,
        low=low,
        high=high,
        others=others,
        differences=np.where(alone, np.nan, means - means[others, cells]),
        differences_low=np.where(alone, np.nan, differences_low),
        differences_high=np.where(alone, np.nan, differences_high),
        p_randomization=_corrected(p_randomization, others),
        p_t_test=_corrected(t_test_p_values(values, masks, others), others),
    )


def _resampled(
    of_seeds: Sequence[Sequence[Sequence[np.ndarray]]],
    masks: np.ndarray,
    resampling: Resampling,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return (B, R, J) means of resamples of the clusters and of the seeds of each row.

    :param of_seeds: for each row and each of its seeds (J, Q), the measure of each query.
    """
    flat = np.array([values for seeds in of_seeds for values in seeds])  # (S, J, Q)
    data = cluster_sums(flat, masks, resampling.clusters)
    drawn = bootstrap_means(data, resampling.num_resamples, rng)  # (B, S, J)
    return with_drawn_seeds(drawn, [len(seeds) for seeds in of_seeds], rng)


def _values(
    columns: Sequence[Column], hits: np.ndarray, num_gold: np.ndarray, whole: bool
) -> list[np.ndarray]:
    """Return the measure of each column for each query; each is computed once."""
    names = dict.fromkeys(column.measure for column in columns)
    found = {name: measure(name, hits, num_gold, whole) for name in names}
    return [found[column.measure] for column in columns]


def _corrected(p_values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Correct by Holm; best against second and second against best are one comparison."""
    mutual = _is_mutual(others)
    corrected = holm(np.where(mutual, np.nan, p_values))
    return np.where(mutual, np.take_along_axis(corrected, others, axis=0), corrected)


def _is_mutual(others: np.ndarray) -> np.ndarray:
    """Return (R, J) True for the later row of each two that are compared with one another."""
    rows = np.arange(len(others))[:, None]
    return (np.take_along_axis(others, others, axis=0) == rows) & (others < rows) & (others >= 0)
