"""Votes of similar contexts for what they cite; with numpy alone, as an index needs it."""

import numpy as np

NEIGHBOURS, SHARPNESS = 300, 8.0


def votes_of(scores: np.ndarray, sharpness: float) -> np.ndarray:
    """Return the (..., K) votes of contexts,  (s / best s) ^ sharpness,  0 where s is not above 0.

    :param scores: (..., K) of contexts, the best first.
    """
    best = np.maximum(scores[..., :1], 1e-300)
    return np.where(scores > 0, np.maximum(scores / best, 0) ** sharpness, 0.0)
