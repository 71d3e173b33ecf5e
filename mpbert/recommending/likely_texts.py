"""Which texts of a column may be among others, told from sums over their letters."""

from collections.abc import Collection

import numpy as np

from mpbert.foundation.growing_arrays import release
from mpbert.foundation.ragged import offsets_of
from mpbert.recommending.columns import TextColumn

_BYTES = 1 << 22  # letters that are summed up at once
_NOT_ASCII = np.uint64(1) << np.uint64(63)


def may_be(texts: TextColumn, others: Collection[str]) -> np.ndarray:
    """Return (N,) whether the letters and digits of a text may be those of another.

    :param others: normal forms of titles or DOIs. A text with letters beyond ASCII, or with a tag,
        may have any of them.
    """
    wanted = _sums(TextColumn.of(list(others)))
    found = _sums(texts)
    return np.isin(found, wanted) | (found >= _NOT_ASCII)


def _sums(texts: TextColumn) -> np.ndarray:
    """Return (N,) the same number for texts of the same letters and digits, in any order."""
    found = np.zeros(len(texts), dtype=np.uint64)
    first = 0
    while first < len(texts):
        end = int(np.searchsorted(texts.offsets, texts.offsets[first] + _BYTES, side="right")) - 1
        end = max(end, first + 1)
        bounds = texts.offsets[first : end + 1]
        values = _VALUES[texts.letters[bounds[0] : bounds[-1]]]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values)])  # it wraps, as it may
        found[first:end] = np.diff(sums[bounds - bounds[0]]) & ~_NOT_ASCII
        is_odd = offsets_of(_IS_ODD[texts.letters[bounds[0] : bounds[-1]]])[bounds - bounds[0]]
        found[first:end][np.diff(is_odd) > 0] |= _NOT_ASCII
        release(texts.letters)
        first = end
    return found


def _values() -> np.ndarray:
    """Return (256,) a number of each byte: those of letters and digits are random."""
    values = np.zeros(256, dtype=np.uint64)
    random = np.random.default_rng(1)
    for character in "abcdefghijklmnopqrstuvwxyz0123456789":
        values[[ord(character), ord(character.upper())]] = random.integers(1 << 63, dtype=np.uint64)
    return values


_VALUES = _values()
_IS_ODD = np.arange(256) >= 128
_IS_ODD[ord("<")] = True
