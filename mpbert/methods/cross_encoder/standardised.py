"""Scores of lists that can be compared and added: each list has mean 0 and deviation 1."""

import numpy as np


def standardised(scores: np.ndarray) -> np.ndarray:
    """Return scores less their mean, over their standard deviation, in each list.

    :param scores: (Q, K); -inf beyond the end of a list, and so returned.
    """
    has = np.isfinite(scores)
    counts = np.maximum(has.sum(axis=1, keepdims=True), 1)
    centred = np.where(has, scores, 0.0)
    centred = centred - centred.sum(axis=1, keepdims=True) / counts
    spread = np.sqrt((np.where(has, centred, 0.0) ** 2).sum(axis=1, keepdims=True) / counts)
    return np.where(has, centred / np.maximum(spread, 1e-9), -np.inf)


def blended(new: np.ndarray, old: np.ndarray, weight: float) -> np.ndarray:
    """Return (1 - weight) · new + weight · old of standardised scores; both (Q, K)."""
    if weight == 1:  # not 0 · -inf
        return standardised(old)
    return (1 - weight) * standardised(new) + weight * standardised(old)
