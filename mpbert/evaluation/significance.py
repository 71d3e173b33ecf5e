"""Tests and intervals for means over queries that come in clusters.

Queries of one citing paper are not independent: they share topic, authors and cited papers. So
whole papers, the clusters, are drawn and exchanged. Symbols: Q queries, R rows of a table
(systems), J cells of a row (subset and measure), C clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_BLOCK = 200  # resamples at once: (200, C) numbers in memory
_ROUNDING = 1e-9  # differences below it are rounding: sums of the same numbers in another order


@dataclass(frozen=True)
class ClusterSums:
    """Measures summed within each cluster; all that resampling needs.

    :param sums: (C, R, J) sums of the measures over the queries of the cell's subset.
    :param sizes: (C, J) number of these queries.
    """

    sums: np.ndarray
    sizes: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """(R, J) means over queries; NaN for an empty subset."""
        return _ratio(self.sums.sum(axis=0), self.sizes.sum(axis=0))


def cluster_sums(values: np.ndarray, masks: np.ndarray, clusters: np.ndarray) -> ClusterSums:
    """Sum measures by cluster.

    :param values: (R, J, Q) measure of each query.
    :param masks: (J, Q) queries that belong to the cell's subset.
    :param clusters: (Q,) number of each query's cluster, 0..C-1.
    """
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    sums = np.add.reduceat((values * masks)[:, :, order], starts, axis=2)  # (R, J, C)
    sizes = np.add.reduceat(masks[:, order].astype(np.float64), starts, axis=1)  # (J, C)
    return ClusterSums(np.moveaxis(sums, 2, 0), sizes.T)


def clusters_of(names: Sequence[str]) -> np.ndarray:
    """Return (Q,) numbers 0..C-1 of equal names."""
    return np.unique(np.asarray(names), return_inverse=True)[1]


def best_other_rows(means: np.ndarray) -> np.ndarray:
    """Return (R, J) for each row the best other one: the best row, for that one the second best.

    Among equal means the earlier row counts as better. -1 where there is no other row.
    """
    num_rows = len(means)
    if num_rows < 2:
        return np.full(means.shape, -1)
    order = np.argsort(-means, axis=0, kind="stable")
    others = np.repeat(order[:1], num_rows, axis=0)
    np.put_along_axis(others, order[:1], order[1:2], axis=0)
    return others


def bootstrap_means(data: ClusterSums, num_resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return (B, R, J) means of resamples of C clusters, drawn with replacement.

    Efron & Tibshirani (An Introduction to the Bootstrap, 1993), Sec. 8.3: all rows and cells see
    the same resamples, so differences of rows are paired.
    """
    num_clusters, num_rows, num_cells = data.sums.shape
    flat = data.sums.reshape(num_clusters, -1)
    means = np.empty((num_resamples, num_rows, num_cells))
    for start in range(0, num_resamples, _BLOCK):
        size = min(_BLOCK, num_resamples - start)
        drawn = rng.integers(num_clusters, size=(size, num_clusters))
        cells = drawn + num_clusters * np.arange(size)[:, None]
        times = np.bincount(cells.ravel(), minlength=size * num_clusters)
        times = times.reshape(size, num_clusters).astype(np.float64)  # how often each is drawn
        sums = (times @ flat).reshape(size, num_rows, num_cells)
        means[start : start + size] = _ratio(sums, (times @ data.sizes)[:, None])
    return means


def with_drawn_seeds(
    samples: np.ndarray, num_seeds: Sequence[int], rng: np.random.Generator
) -> np.ndarray:
    """Return (B, R, J) means of rows over their seeds, drawn anew, with replacement, each time.

    :param samples: (B, S, J) of :func:`bootstrap_means`, a row for each seed of each row.
    :param num_seeds: (R,) how many of the S are of each row; one is always drawn.
    """
    means, start = np.empty((len(samples), len(num_seeds), samples.shape[2])), 0
    for r, n in enumerate(num_seeds):
        own = samples[:, start : start + n]
        if n > 1:
            drawn = rng.integers(n, size=(len(samples), n))
            own = np.take_along_axis(own, drawn[:, :, None], axis=1)
        means[:, r] = own.mean(axis=1)
        start += n
    return means


def percentile_interval(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % percentile interval along the first axis; NaN where all samples are NaN.

    Resamples without a query of the subset, NaN, are left out.
    """
    empty = np.isnan(samples).all(axis=0)
    low, high = np.nanpercentile(np.where(empty, 0.0, samples), [2.5, 97.5], axis=0)
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def randomization_p_values(
    data: ClusterSums, others: np.ndarray, num_samples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return (R, J) two-sided p-values of each row against another one, by exchange of clusters.

    Smucker, Allan & Carterette (CIKM 2007), Sec. 3.1, with citing papers as the unit: under the
    null hypothesis the two systems may be swapped within any cluster, so the sign of each cluster's
    sum of differences is random. p = (1 + samples as extreme) / (1 + samples).

    :param others: (R, J) the row to compare with, -1 for none, which gives NaN.
    """
    num_clusters, num_rows, num_cells = data.sums.shape
    differences = (data.sums - data.sums[:, others, np.arange(num_cells)]).reshape(num_clusters, -1)
    observed = np.abs(differences.sum(axis=0))
    extreme = np.zeros(num_rows * num_cells, dtype=np.int64)
    for start in range(0, num_samples, _BLOCK):
        size = min(_BLOCK, num_samples - start)
        signs = 2.0 * rng.integers(0, 2, size=(size, num_clusters), dtype=np.int8) - 1.0
        extreme += (np.abs(signs @ differences) >= observed - _ROUNDING).sum(axis=0)
    p_values = ((1 + extreme) / (1 + num_samples)).reshape(num_rows, num_cells)
    nothing = (others < 0) | (data.sizes.sum(axis=0) == 0)
    return np.where(nothing, np.nan, p_values)


def t_test_p_values(values: np.ndarray, masks: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return (R, J) two-sided p-values of paired t-tests over queries, as in Zhang & Ma (2021).

    It takes queries of one paper for independent. 1 where a row equals the other one everywhere;
    NaN where there is no other row or fewer than two queries.

    :param values: (R, J, Q) measure of each query.
    :param masks: (J, Q) queries that belong to the cell's subset.
    :param others: (R, J) the row to compare with, -1 for none.
    """
    from scipy import stats  # slow to import, and --help need not wait

    sizes = masks.sum(axis=1)  # (J,)
    differences = (values - values[others, np.arange(values.shape[1])]) * masks  # (R, J, Q)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = differences.sum(axis=2) / sizes
        squares = (differences**2).sum(axis=2) - sizes * means**2
        t = means / np.sqrt(np.maximum(squares, 0.0) / (sizes - 1) / sizes)
    p_values = 2 * stats.t.sf(np.abs(t), np.maximum(sizes - 1, 1))
    p_values = np.where(np.abs(differences).max(axis=2, initial=0) < _ROUNDING, 1.0, p_values)
    return np.where((others < 0) | (sizes < 2), np.nan, p_values)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values corrected for their number by Holm (Scand. J. Statist. 1979).

    The i-th smallest of m is multiplied by m - i + 1, made not to decrease, cut at 1. NaN entries
    are no comparisons and stay.
    """
    flat = p_values.ravel()
    order = np.argsort(flat, kind="stable")  # NaN last
    m = int((~np.isnan(flat)).sum())
    order = order[:m]
    corrected = np.full(len(flat), np.nan)
    scaled = flat[order] * (m - np.arange(m))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return corrected.reshape(p_values.shape)


def _ratio(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sizes > 0, sums / sizes, np.nan)
