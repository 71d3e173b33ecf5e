"""Weights of tokens beside vectors, as one file: ``NAME.matches.npz``.

Of an encoder with exact matches. The score of a query and a paper is the cosine of their vectors
plus the inner product of their weights. An index that answers needs no more than numpy:
:func:`read_weights`. All else takes the matrices of scipy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mpbert.foundation.arrays import write_array
from mpbert.foundation.errors import VectorsError
from mpbert.foundation.growing_arrays import Numbers
from mpbert.foundation.ragged import offsets_of, taken_rows

if TYPE_CHECKING:  # none of the base installation
    from scipy import sparse

_PARTS = ("indptr", "indices", "data", "shape")  # of a file that scipy writes
_BLOCK = 1 << 20  # numbers of an array that are in memory while they are written


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

    def row(self, text: int) -> "TokenWeights":
        """Return the (1, V) weights of one text."""
        start, end = self.offsets[text : text + 2].tolist()
        tokens, weights = self.tokens[start:end], self.weights[start:end]
        return TokenWeights(np.array([0, end - start]), tokens, weights, self.vocab_size)

    def take(self, texts: np.ndarray) -> "TokenWeights":
        """Return the weights of some texts, in this order."""
        offsets, places = taken_rows(self.offsets, texts)
        return TokenWeights(offsets, self.tokens[places], self.weights[places], self.vocab_size)

    @classmethod
    def joined(cls, parts: "Sequence[TokenWeights]") -> "TokenWeights":
        """Return the weights of the texts of all parts, one of which there is at least."""
        offsets = offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]))
        tokens, weights = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("tokens", "weights")
        )
        return cls(offsets, tokens, weights, parts[0].vocab_size)

    @classmethod
    def empty(cls, vocab_size: int) -> "TokenWeights":
        """Return the weights of no text."""
        nothing = np.zeros(0, dtype=np.int32)
        return cls(offsets_of(nothing), nothing, nothing.astype(np.float32), vocab_size)

    @classmethod
    def of(cls, matrix: "sparse.csr_array") -> "TokenWeights":
        """Return the weights of a matrix of scipy."""
        return cls(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])

    def matrix(self) -> "sparse.csr_array":
        """Return the same as a matrix of scipy."""
        from scipy import sparse

        parts = self.weights, self.tokens, self.offsets
        return sparse.csr_array(parts, shape=(len(self), self.vocab_size))


class MatchesWriter:
    """Writes weights of tokens as scipy stores a sparse matrix, of rows that come in blocks.

    All numbers wait in files without a name in ``TMPDIR``: memory holds a block of them.

    :param vocab_size: V.
    """

    def __init__(self, vocab_size: int) -> None:
        self._vocab_size, self._num_weights = vocab_size, 0
        self._offsets, self._tokens = Numbers(np.int64), Numbers(np.int32)
        self._weights = Numbers(np.float32)
        self._offsets.extend([0])

    def add(self, offsets: np.ndarray, tokens: np.ndarray, weights: np.ndarray) -> None:
        """Add the rows of N more texts, as in :class:`TokenWeights`."""
        self._offsets.extend(offsets[1:] + np.int64(self._num_weights))
        self._tokens.extend(tokens)
        self._weights.extend(weights)
        self._num_weights += len(tokens)

    def save(self, directory: Path, name: str) -> None:
        """Write all rows into a directory that exists."""
        from zipfile import ZipFile  # an index has no such file, and need not wait for it

        offsets = self._offsets.array()
        fits = max(self._num_weights, self._vocab_size) <= np.iinfo(np.int32).max
        kind = np.int32 if fits else np.int64  # of rows and offsets, as scipy chooses it
        arrays = {
            "indices": (self._tokens.array(), kind),
            "indptr": (offsets, kind),
            "format": (np.array(b"csr"), "S3"),
            "shape": (np.array([len(offsets) - 1, self._vocab_size]), np.int64),
            "data": (self._weights.array(), np.float32),
            "_is_array": (np.array(True), bool),
        }
        with ZipFile(matches_file(directory, name), "w") as archive:
            for part, (array, of_kind) in arrays.items():
                flat = array.reshape(-1)
                blocks = (flat[at : at + _BLOCK] for at in range(0, flat.size, _BLOCK))
                with archive.open(f"{part}.npy", "w", force_zip64=True) as file:
                    write_array(file, array.shape, of_kind, blocks)


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
    from zipfile import BadZipFile

    try:
        with np.load(file, allow_pickle=False) as archive:
            offsets, tokens, weights, shape = (archive[part] for part in _PARTS)
        num_texts, vocab_size = map(int, shape)
        _check_rows(offsets, tokens, weights, num_texts, vocab_size)
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
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
