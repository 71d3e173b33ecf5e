"""Ragged arrays: many rows of different lengths, one after another in one flat array."""

import numpy as np


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """Return (M+1,) int64 offsets of rows that have these (M,) lengths."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def row_numbers(lengths: np.ndarray) -> np.ndarray:
    """Return the row of each element: lengths 2, 1 give 0, 0, 1."""
    return np.repeat(np.arange(len(lengths)), lengths)


def distinct(values: np.ndarray) -> np.ndarray:
    """Return (M,) numbers ascending, each once; numpy's own loads its masked arrays first."""
    values = np.sort(values)
    return np.concatenate([values[:1], values[1:][values[1:] != values[:-1]]])


def counted(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (M,) whole numbers from 0, ascending, each once, and (M,) how often each is there."""
    values = np.sort(values)
    firsts = np.flatnonzero(np.diff(values, prepend=-1))
    return values[firsts], np.diff(firsts, append=len(values))


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return start, start+1, ... of every row, one row after another.

    :param starts: (M,) first element of each row.
    :param lengths: (M,) elements of each row; may be 0.
    :returns: (sum of lengths,) int64.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    elements = np.arange(lengths.sum())
    elements += np.repeat(np.asarray(starts, dtype=np.int64) - offsets_of(lengths)[:-1], lengths)
    return elements


def taken_rows(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return some rows, in this order: their offsets, and the places of their elements.

    :param offsets: (M+1,) of all rows.
    """
    starts = offsets[:-1][rows]
    lengths = offsets[1:][rows] - starts
    return offsets_of(lengths), ranges(starts, lengths)


def smallest_per_row(keys: np.ndarray, lengths: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return, ascending, the places of the ``limits`` smallest keys of each row.

    With random keys this draws without replacement, for all rows at once.

    :param keys: (sum of lengths,) one key per element.
    :param lengths: (M,) elements of each row.
    :param limits: (M,) or scalar, how many to take of each row; a shorter row is taken whole.
    :returns: int64 places in ``keys``.
    """
    rows = row_numbers(lengths)
    by_row_then_key = np.empty(len(keys), dtype=np.complex128)  # sorted by real, then by imaginary
    by_row_then_key.real, by_row_then_key.imag = rows, keys
    order = np.argsort(by_row_then_key, kind="stable")  # runs of rows merge at once, unlike lexsort
    rank = np.arange(len(keys)) - np.repeat(offsets_of(lengths)[:-1], lengths)
    is_taken = np.zeros(len(keys), dtype=bool)
    is_taken[order[rank < np.broadcast_to(limits, len(lengths))[rows]]] = True
    return np.flatnonzero(is_taken)


def budget_batches(
    costs: np.ndarray, items: np.ndarray, max_cost: int | None, max_items: int | None
) -> list[np.ndarray]:
    """Cut items into consecutive batches by a budget; an item over it has a batch of its own.

    :param costs: (M,) cost of each item, for example its tokens.
    :param max_cost: largest sum of costs of a batch; None for no limit.
    :param max_items: most items of a batch; None for no limit.
    """
    total = offsets_of(costs)
    batches, start = [], 0
    while start < len(items):
        end = len(items)
        if max_cost is not None:
            end = int(np.searchsorted(total, total[start] + max_cost, side="right")) - 1
        if max_items is not None:
            end = min(end, start + max_items)
        end = max(end, start + 1)
        batches.append(items[start:end])
        start = end
    return batches
