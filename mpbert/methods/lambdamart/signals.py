"""What a ranking says of a paper, for trees to read; with numpy alone, as an index needs it."""

import numpy as np

OF_A_RANKING = ("score", "share_of_best", "reciprocal_rank")


def signals_of(scores: np.ndarray, best: np.ndarray, ranks: np.ndarray) -> list[np.ndarray]:
    """Return the (..., M) features of :data:`OF_A_RANKING` of M papers, of one ranking or several.

    The score of a paper that is not ranked is not known (NaN), and 1 / rank is 0. A share is known
    where the best score is above 0.

    :param scores: (..., M); those of papers that are not ranked do not matter.
    :param best: (..., M), or one for each ranking: the best score of the list.
    :param ranks: (..., M) from 0; -1 of a paper that is not ranked.
    """
    has = ranks >= 0
    known = np.where(has, scores, np.nan)
    shares = np.divide(known, best, out=np.full_like(known, np.nan), where=has & (best > 0))
    return [known, shares, np.where(has, 1 / np.maximum(ranks + 1, 1), 0.0)]
