"""A row over several seeds of its training: mean and interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.evaluation.measures import measure
from mpbert.evaluation.tables import Column

SEEDS = 3  # that a trained row needs for a claim or a mark of significance
_FEW = {1: "one seed", 2: "two seeds"}


def too_few_seeds(num_seeds: int) -> str:
    """Return the words on a trained row that has fewer seeds than :data:`SEEDS`, or nothing."""
    return _FEW.get(num_seeds, "") if num_seeds < SEEDS else ""


@dataclass(frozen=True)
class SeedScores:
    """Scores over seeds; arrays are (J,), by column, from 0 to 1. NaN: a column without queries.

    :param half_widths: of the 95 % interval of the mean, Student's t.
    """

    num_seeds: int
    means: np.ndarray
    half_widths: np.ndarray


def scores_over_seeds(
    hits: Sequence[np.ndarray], num_gold: np.ndarray, columns: Sequence[Column]
) -> SeedScores:
    """Return mean and interval of a row that was trained with at least two seeds.

    :param hits: for each seed (Q, K), whether the paper at each rank is relevant.
    :param num_gold: (Q,) number of relevant papers.
    """
    scores = np.full((len(hits), len(columns)), np.nan)
    for j, column in enumerate(columns):
        if len(column.subset):
            mask = column.subset.mask
            scores[:, j] = [measure(column.measure, h, num_gold)[mask].mean() for h in hits]
    from scipy.special import stdtrit

    quantile = stdtrit(len(hits) - 1, 0.975)
    half_widths = quantile * scores.std(axis=0, ddof=1) / np.sqrt(len(hits))
    return SeedScores(len(hits), scores.mean(axis=0), half_widths)
