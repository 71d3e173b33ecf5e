"""Sparse matrices by column instead of by row: an external merge, of which memory holds a part."""

from collections.abc import Iterable, Iterator

import numpy as np

from mpbert.foundation.growing_arrays import Numbers, release
from mpbert.foundation.ragged import offsets_of, row_numbers

_AT_ONCE = 1 << 22  # elements that are sorted at once
Run = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Columns of some elements, ascending, int32; their rows, ascending at each, int32; and values."""


def transposed(
    offsets: np.ndarray, columns: np.ndarray, values: np.ndarray, num_columns: int
) -> Run:
    """Return a sparse matrix by column, see :func:`merged`.

    :param offsets: (M+1,) of the rows; row i has ``values[offsets[i]:offsets[i + 1]]`` in
        ``columns`` beside.
    """
    return merged(_runs(offsets, columns, values), num_columns, values.dtype)


def merged(runs: Iterable[Run], num_columns: int, kind: np.dtype) -> Run:
    """Return the matrix of all runs: (num_columns + 1,) offsets of the columns, rows, and values.

    Runs wait on disk; then they are merged, some columns at a time. The result is mapped.

    :param runs: the rows of each come behind those of the one before.
    :param kind: of the values.
    """
    kinds = np.dtype(np.int32), np.dtype(np.int32), kind
    spilled, ends = [Numbers(each) for each in kinds], [0]
    counts = np.zeros(num_columns, dtype=np.int64)
    for run in runs:
        for numbers, part in zip(spilled, run, strict=True):
            numbers.extend(part)
        ends.append(ends[-1] + len(run[0]))
        counts += np.bincount(run[0], minlength=num_columns)
    offsets, (columns, *held) = offsets_of(counts), [each.array() for each in spilled]
    if len(ends) <= 2:
        return offsets, *held
    found = [Numbers(each) for each in kinds[1:]]
    starts = ends[:-1]
    for low, high in _ranges(offsets):
        bounds = zip(starts, ends[1:], strict=True)
        stops = [start + int(np.searchsorted(columns[start:end], high)) for start, end in bounds]
        parts = [slice(*bound) for bound in zip(starts, stops, strict=True)]
        order = _order(np.concatenate([columns[part] for part in parts]) - np.int32(low))
        for target, source in zip(found, held, strict=True):
            target.extend(np.concatenate([source[part] for part in parts])[order])
        for array in (columns, *held):
            release(array)
        starts = stops
    return offsets, *(each.array() for each in found)


def _ranges(offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first and end of columns that are merged at once."""
    low = 0
    while low < len(offsets) - 1:
        high = int(np.searchsorted(offsets, offsets[low] + _AT_ONCE, side="right")) - 1
        high = max(high, low + 1)
        yield low, high
        low = high


def _runs(offsets: np.ndarray, columns: np.ndarray, values: np.ndarray) -> Iterator[Run]:
    first = 0
    while first < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[first] + _AT_ONCE, side="right")) - 1
        end = max(end, first + 1)
        part = slice(offsets[first], offsets[end])
        order = _order(columns[part])
        rows = row_numbers(np.diff(offsets[first : end + 1])) + first
        yield columns[part][order], rows[order].astype(np.int32), values[part][order]
        first = end


def _order(numbers: np.ndarray) -> np.ndarray:
    """Return the order of whole numbers below 2^32, equal ones as they stand.

    numpy sorts numbers of 16 bits by counting, several times as fast as others.
    """
    low = np.argsort(numbers.astype(np.uint16), kind="stable")
    high = (numbers >> 16).astype(np.uint16)
    return low[np.argsort(high[low], kind="stable")] if high.any() else low
