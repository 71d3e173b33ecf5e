"""Weights of tokens beside vectors, as one file: ``NAME.matches.npz``.

Of an encoder with exact matches. The score of a query and a paper is the cosine of their vectors
plus the inner product of their weights. An index that answers needs no more than numpy:
:func:`read_weights`. All else takes the matrices of scipy.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mpbert.foundation.errors import VectorsError

if TYPE_CHECKING:  # none of the base installation
    from scipy import sparse

_PARTS = ("indptr", "indices", "data", "shape")  # of a file that scipy writes


@dataclass(frozen=True)
class TokenWeights:
    """(N, V) weights of tokens, text after text; those that are not here are 0.

    :param offsets: (N + 1,) text i has ``tokens[offsets[i]:offsets[i + 1]]``, ``weights`` beside.
    :param vocab_size: V.
    """

    offsets: np.ndarray
    tokens: np.ndarray
    weights: np.ndarray
    vocab_size: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, matrix: "sparse.csr_array") -> "TokenWeights":
        """Return the weights of a matrix of scipy."""
        return cls(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])

    def matrix(self) -> "sparse.csr_array":
        """Return the same as a matrix of scipy."""
        from scipy import sparse

        parts = self.weights, self.tokens, self.offsets
        return sparse.csr_array(parts, shape=(len(self), self.vocab_size))


def save_matches(directory: Path, name: str, weights: "sparse.csr_array") -> None:
    """Write the weights of tokens into a directory that exists.

    :param weights: (N, V) float32, a row for each vector of the same name.
    """
    from scipy import sparse

    sparse.save_npz(matches_file(directory, name), weights, compressed=False)


def load_matches(directory: Path, name: str, num_rows: int) -> "sparse.csr_array | None":
    """Return (N, V) weights as a matrix of scipy; all else as :func:`read_weights`."""
    found = read_weights(directory, name, num_rows)
    return None if found is None else found.matrix()


def read_weights(directory: Path, name: str, num_rows: int) -> TokenWeights | None:
    """Return (N, V) weights; None where the vectors have none.

    :param num_rows: N, of the vectors.
    :raises VectorsError: the file is damaged or of other vectors, or a weight is not finite.
    """
    file = matches_file(directory, name)
    if not file.exists():
        return None
    try:
        with np.load(file, allow_pickle=False) as archive:
            offsets, tokens, weights, shape = (archive[part] for part in _PARTS)
        num_texts, vocab_size = map(int, shape)
        _check_rows(offsets, tokens, weights, num_texts, vocab_size)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split())
        raise VectorsError(f"{file}: unreadable ({reason}); embed again") from error
    if num_texts != num_rows:
        raise VectorsError(
            f"{file}: found weights of {num_texts} texts; expected {num_rows}, one row per "
            f"vector; embed again"
        )
    if not np.isfinite(weights).all():
        raise VectorsError(f"{file}: found NaN or infinity; train with a lower learning rate")
    return TokenWeights(offsets, tokens, weights, vocab_size)


def _check_rows(
    offsets: np.ndarray, tokens: np.ndarray, weights: np.ndarray, num_texts: int, vocab_size: int
) -> None:
    """Check that three arrays are rows of tokens.

    :raises ValueError: they are not.
    """
    kinds = "".join(array.dtype.kind for array in (offsets, tokens, weights))
    if kinds != "iif" or any(array.ndim != 1 for array in (offsets, tokens, weights)):
        raise ValueError(f"found arrays of the kinds {kinds}; expected offsets, tokens, weights")
    if len(offsets) != num_texts + 1 or offsets[0] != 0 or (np.diff(offsets) < 0).any():
        raise ValueError(f"found {len(offsets)} offsets that do not ascend from 0")
    if not len(tokens) == len(weights) == offsets[-1]:
        raise ValueError(f"found {len(tokens)} tokens and {len(weights)} weights")
    if len(tokens) and not 0 <= tokens.min() <= tokens.max() < vocab_size:
        raise ValueError(f"found a token outside of 0 to {vocab_size - 1}")


def matches_file(directory: Path, name: str) -> Path:
    """Return where weights lie, if there are any."""
    return Path(directory) / f"{name}.matches.npz"
