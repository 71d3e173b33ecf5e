"""The score of late interaction."""

import numpy as np


def max_sim(query: np.ndarray, texts: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return (M,) float32 mean cosines of the tokens of a query with their nearest token of a text.

        s(q, d) = 1/|q| Σ_i max_j q_i · d_j

    Khattab and Zaharia (SIGIR 2020), Eq. 3, which is the sum over i.

    :param query: (T, D) states of length 1.
    :param texts: (S, D) states of length 1 of M texts, one after another.
    :param offsets: (M + 1,) where each begins; none is empty.
    """
    if len(offsets) == 1:
        return np.zeros(0, np.float32)
    return np.maximum.reduceat(texts @ query.T, offsets[:-1], axis=0).mean(axis=1)
