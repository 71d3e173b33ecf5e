"""How far probabilities can be relied upon: whether they tell, come true, and what they risk."""

from dataclasses import dataclass

import numpy as np

BINS = 15
COVERAGES = (0.1, 0.25, 0.5, 0.75, 1.0)  # parts of the answers that tables show


@dataclass(frozen=True)
class Reliability:
    """How far the probabilities of first papers can be relied upon.

    :param right: part of the first papers that is cited.
    :param auroc: how well these are told from the others.
    :param error: expected calibration error, of :func:`calibration_error`.
    :param of_library: AUROC of P(the library holds what belongs here): whole answers, and the same
        without the cited papers; NaN: not known.
    :param probability: (B,) means of the bins that are not empty, ``cited`` the part of each that
        is cited, ``share`` its part of all.
    :param risk: (100,) part that is wrong of the surest 1 %, 2 %, ..., all.
    """

    right: float
    auroc: float
    error: float
    of_library: float
    probability: np.ndarray
    cited: np.ndarray
    share: np.ndarray
    risk: np.ndarray

    def risk_at(self, coverage: float) -> float:
        """Return the part that is wrong of the surest part of the answers, a whole percentage."""
        return float(self.risk[max(round(100 * coverage), 1) - 1])


def reliability(
    first: np.ndarray,
    is_right: np.ndarray,
    holds: np.ndarray | None = None,
    holds_without: np.ndarray | None = None,
) -> Reliability:
    """Return how far probabilities can be relied upon.

    :param first: (Q,) P(the first paper is cited), ``is_right`` (Q,) whether it is.
    :param holds: (R,) P(the library holds what belongs here), ``holds_without`` (S,) the same
        without the papers that are cited.
    """
    of_library = float("nan")
    if holds is not None and holds_without is not None:
        labels = np.repeat([True, False], [len(holds), len(holds_without)])
        of_library = auroc(np.concatenate([holds, holds_without]), labels)
    which = _bins(first)
    share = np.bincount(which, minlength=BINS)
    has_any = share > 0
    means = [
        np.bincount(which, values, BINS)[has_any] / share[has_any] for values in (first, is_right)
    ]
    right = is_right[np.argsort(-first, kind="stable")]
    count = np.maximum(np.round(np.arange(1, 101) / 100 * len(right)).astype(int), 1)
    return Reliability(
        *(float(is_right.mean()), auroc(first, is_right), calibration_error(first, is_right)),
        *(of_library, *means, share[has_any] / len(first), 1 - np.cumsum(right)[count - 1] / count),
    )


def auroc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the area under the ROC curve; NaN where all (M,) labels are equal."""
    from scipy.stats import mannwhitneyu

    is_true = labels.astype(bool)
    pairs = np.count_nonzero(is_true) * np.count_nonzero(~is_true)
    if not pairs:
        return float("nan")
    return float(mannwhitneyu(scores[is_true], scores[~is_true]).statistic / pairs)


def calibration_error(
    probabilities: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Return the expected calibration error over 15 bins of equal width.

    Guo, Pleiss, Sun & Weinberger (ICML 2017), Eq. 3.

    :param probabilities: (M,), ``labels`` (M,) whether each came true.
    :param weights: (M,) of each; None: all count as much.
    """
    weights = np.ones(len(labels)) if weights is None else weights
    gaps = np.bincount(_bins(probabilities), weights * (probabilities - labels), BINS)
    return float(np.abs(gaps).sum() / weights.sum())


def _bins(probabilities: np.ndarray) -> np.ndarray:
    return np.minimum((probabilities * BINS).astype(int), BINS - 1)
