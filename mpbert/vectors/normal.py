"""Vectors of length 1, whose inner product is their cosine similarity."""

import numpy as np


def normalized(vectors: np.ndarray) -> np.ndarray:
    """Return float32 rows of length 1; a zero row stays zero, so that its cosines are 0.

    :param vectors: (M, D).
    """
    exact = vectors.astype(np.float64)  # a copy; also where float32 squares would overflow
    lengths = np.sqrt(np.einsum("md,md->m", exact, exact))[:, None]
    return np.divide(exact, lengths, out=exact, where=lengths > 0).astype(np.float32)
