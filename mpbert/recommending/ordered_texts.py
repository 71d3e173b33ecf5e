"""Texts put in order, and found in it, where they lie: no object of Python for each.

The order is that of Python. Eight bytes of UTF-8, as one number, are compared at once.
"""

from collections.abc import Iterable

import numpy as np

from mpbert.recommending.columns import TextColumn

_AT_ONCE = 1 << 16  # texts of which the numbers are made at once


def order_of(texts: TextColumn) -> np.ndarray:
    """Return (N,) the rows of texts in their order; equal ones as they stand."""
    order, group = np.arange(len(texts)), np.zeros(len(texts), dtype=np.int64)
    left, word = np.arange(len(texts)), 0  # places of those that are not told apart yet
    while len(left):
        rows, own = order[left], group[left]
        keys, sizes = _words(texts, rows, word)
        by = np.lexsort([sizes, keys, own])
        order[left], keys, sizes = rows[by], keys[by], sizes[by]
        begins = np.ones(len(left), dtype=bool)
        begins[1:] = np.any([each[1:] != each[:-1] for each in (own, keys, sizes)], axis=0)
        group[left] = left[np.maximum.accumulate(np.where(begins, np.arange(len(left)), 0))]
        is_single = begins & np.append(begins[1:], True)
        left, word = left[~is_single & (sizes == 8)], word + 1
    return order


def repeated(texts: TextColumn) -> np.ndarray:
    """Return the rows of texts in order whose next one is the same."""
    rows = np.arange(max(len(texts) - 1, 0))
    return rows[_signs(texts, rows, texts, rows + 1) == 0]


def places_of(texts: TextColumn, wanted: TextColumn) -> tuple[np.ndarray, np.ndarray]:
    """Return (M,) how many of some texts in order come before each wanted one.

    And (M,) whether the text there is the same.
    """
    low, high = np.zeros(len(wanted), np.int64), np.full(len(wanted), len(texts))
    while len(left := np.flatnonzero(low < high)):
        middle = (low[left] + high[left]) // 2
        is_less = _signs(texts, middle, wanted, left) < 0
        low[left[is_less]] = middle[is_less] + 1
        high[left[~is_less]] = middle[~is_less]
    there, found = np.flatnonzero(low < len(texts)), np.zeros(len(wanted), dtype=bool)
    found[there] = _signs(texts, low[there], wanted, there) == 0
    return low, found


def rows_in_order(ids: TextColumn, wanted: Iterable[str]) -> dict[str, int]:
    """Return the row of each of some ids that is there.

    :param ids: all different, in order.
    """
    texts = list(dict.fromkeys(wanted))
    places, found = places_of(ids, TextColumn.of(texts))
    each = zip(texts, places.tolist(), found.tolist(), strict=True)
    return {text: row for text, row, is_there in each if is_there}


def _signs(
    texts: TextColumn, rows: np.ndarray, others: TextColumn, other_rows: np.ndarray
) -> np.ndarray:
    """Return (M,) whether a text stands before another one, below 0, or behind, above 0."""
    signs, left, word = np.zeros(len(rows), dtype=np.int8), np.arange(len(rows)), 0
    while len(left):
        pairs = zip(
            _words(texts, rows[left], word), _words(others, other_rows[left], word), strict=True
        )
        (keys, keys_of_others), (sizes, sizes_of_others) = pairs
        by_keys = (keys > keys_of_others).astype(np.int8) - (keys < keys_of_others)
        signs[left] = np.where(by_keys != 0, by_keys, np.sign(sizes - sizes_of_others))
        left, word = left[(signs[left] == 0) & (sizes == 8)], word + 1
    return signs


def _words(texts: TextColumn, rows: np.ndarray, word: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (M,) the word-th eight bytes of texts as numbers, 0 behind the end; and how many."""
    keys, sizes = np.zeros(len(rows), np.uint64), np.zeros(len(rows), np.int8)
    for first in range(0, len(rows), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        begins = texts.offsets[rows[part]] + 8 * word
        sizes[part] = (texts.offsets[rows[part] + 1] - begins).clip(0, 8)
        is_own = np.arange(8) < sizes[part, None]
        letters = np.zeros(is_own.shape, dtype=np.uint8)
        every = texts.letters[:]  # worked out once, where a change has put them together
        letters[is_own] = every[(begins[:, None] + np.arange(8))[is_own]]
        keys[part] = letters.view(">u8")[:, 0]
    return keys, sizes
