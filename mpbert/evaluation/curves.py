"""Curves of the report: one measure of each row by rank, by co-citation history, by year."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.evaluation.measures import measure, recall_curve

RANKS = (1, 2, 5, 10, 20, 50, 100)  # of a curve by rank, that plots and tables name
_EDGES = (0.0, 1.0, 3.0, 10.0, 30.0)  # of mean pair frequencies, about a factor of 3


@dataclass(frozen=True)
class Curve:
    """One measure of each row against something.

    :param x: (X,) numbers or names along the axis.
    :param sizes: (X,) queries behind each point.
    :param values: (R, X) means.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    x: Sequence[float | int | str]
    sizes: Sequence[int]
    values: np.ndarray


def curves_of(
    num_gold: np.ndarray,
    frequency: np.ndarray,
    years: np.ndarray,
    hits: Sequence[Sequence[np.ndarray]],
) -> list[Curve]:
    """Return recall by rank, and Recall@10 by co-citation history and by year.

    :param num_gold: (Q,) number of papers each query cites.
    :param frequency: (Q,) mean training co-citation frequency of the pairs cited; NaN: no pair.
    :param years: (Q,) years of the citing papers.
    :param hits: for each row and each of its seeds (Q, K), whether the paper at each rank is
        relevant; values are means over the seeds.
    :returns: those with more than one point.
    """
    size = len(num_gold)
    recalls = _over_seeds(lambda h: recall_curve(h, num_gold), hits)  # (R, K)
    ranks = list(range(1, recalls.shape[1] + 1))
    curves = [
        Curve("recall", "Recall@k, P ≥ 1", "k", "Recall@k", ranks, [size] * len(ranks), recalls)
    ]
    at_10 = _over_seeds(lambda h: measure("Recall@10", h, num_gold), hits)  # (R, Q)
    bins = np.digitize(frequency, _EDGES, right=True)  # NaN comes last
    bins = np.where(np.isnan(frequency), -1, bins)
    names = ["0", *(f"≤ {edge:g}" for edge in _EDGES[1:])]
    names.append(f"> {_EDGES[-1]:g}")
    curves.append(
        _grouped(
            "frequency",
            "Recall@10, P ≥ 2, by co-citation history",
            "mean number of training contexts that cite a pair of the cited papers together",
            names,
            bins,
            at_10,
        )
    )
    years, year_of = np.unique(years, return_inverse=True)
    curves.append(
        _grouped(
            "year", "Recall@10, P ≥ 1, by year", "year of the citing paper", years, year_of, at_10
        )
    )
    return [curve for curve in curves if len(curve.x) > 1]


def _over_seeds(
    value: Callable[[np.ndarray], np.ndarray], hits: Sequence[Sequence[np.ndarray]]
) -> np.ndarray:
    return np.array([np.mean([value(h) for h in seeds], axis=0) for seeds in hits])


def _grouped(
    name: str,
    title: str,
    x_label: str,
    groups: Sequence[str | int],
    group_of: np.ndarray,
    values: np.ndarray,
) -> Curve:
    sizes = np.bincount(group_of[group_of >= 0], minlength=len(groups))
    used = np.flatnonzero(sizes)
    means = [values[:, group_of == group].mean(axis=1) for group in used]
    x = [str(groups[group]) for group in used]
    stacked = np.array(means).reshape(len(used), len(values)).T  # (R, X)
    return Curve(name, title, x_label, "Recall@10", x, sizes[used].tolist(), stacked)
