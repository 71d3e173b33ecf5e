"""Weights of tokens beside vectors, as one file: ``NAME.matches.npz``.

Of an encoder with exact matches. The score of a query and a paper is the cosine of their vectors
plus the inner product of their weights.
"""

import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

from mpbert.foundation.errors import VectorsError


def save_matches(directory: Path, name: str, weights: sparse.csr_array) -> None:
    """Write the weights of tokens into a directory that exists.

    :param weights: (N, V) float32, a row for each vector of the same name.
    """
    sparse.save_npz(matches_file(directory, name), weights, compressed=False)


def load_matches(directory: Path, name: str, num_rows: int) -> sparse.csr_array | None:
    """Return (N, V) weights; None where the vectors have none.

    :param num_rows: N, of the vectors.
    :raises VectorsError: the file is damaged or of other vectors, or a weight is not finite.
    """
    file = matches_file(directory, name)
    if not file.exists():
        return None
    try:
        weights = sparse.csr_array(sparse.load_npz(file))
        weights.check_format()
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split())
        raise VectorsError(f"{file}: unreadable ({reason}); embed again") from error
    if weights.shape[0] != num_rows:
        raise VectorsError(
            f"{file}: found weights of {weights.shape[0]} texts; expected {num_rows}, one row per "
            f"vector; embed again"
        )
    if not np.isfinite(weights.data).all():
        raise VectorsError(f"{file}: found NaN or infinity; train with a lower learning rate")
    return weights


def matches_file(directory: Path, name: str) -> Path:
    """Return where weights lie, if there are any."""
    return Path(directory) / f"{name}.matches.npz"
