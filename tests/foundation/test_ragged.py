import numpy as np
import pytest

from mpbert.foundation.ragged import (
    budget_batches,
    offsets_of,
    ranges,
    row_numbers,
    smallest_per_row,
    taken_rows,
)
from mpbert.foundation.ragged_rows import Ragged, joined


def test_offsets_rows_and_ranges_by_pencil():
    lengths = np.array([2, 0, 3], dtype=np.uint16)
    assert offsets_of(lengths).tolist() == [0, 2, 2, 5]
    assert offsets_of(lengths).dtype == np.int64
    assert row_numbers(lengths).tolist() == [0, 0, 2, 2, 2]
    assert ranges(np.array([10, 99, 3]), lengths).tolist() == [10, 11, 3, 4, 5]


def test_offsets_do_not_wrap_around_with_small_types():
    assert offsets_of(np.full(3, 60000, dtype=np.uint16))[-1] == 180000


def test_nothing_gives_nothing():
    none = np.zeros(0, dtype=np.int64)
    assert offsets_of(none).tolist() == [0]
    assert ranges(none, none).tolist() == []
    assert smallest_per_row(none, none, none).tolist() == []
    assert budget_batches(none, none, 5, 5) == []


def test_smallest_per_row_equals_sorting_each_row():
    rng = np.random.default_rng(1)
    lengths, limits = rng.integers(0, 8, 50), rng.integers(0, 6, 50)
    keys, start, expected = rng.random(lengths.sum()), 0, []
    for length, limit in zip(lengths, limits, strict=True):
        row = range(start, start + length)
        expected += sorted(sorted(row, key=lambda place: keys[place])[:limit])
        start += length
    assert smallest_per_row(keys, lengths, limits).tolist() == expected
    assert len(smallest_per_row(keys, lengths, 1)) == (lengths > 0).sum()
    assert smallest_per_row(np.zeros(6), np.array([3, 3]), 2).tolist() == [0, 1, 3, 4]  # ties


@pytest.mark.parametrize(
    ("max_cost", "max_items", "expected"),
    [
        (None, None, [[0, 1, 2, 3, 4]]),
        (5, None, [[0, 1], [2], [3, 4]]),
        (None, 2, [[0, 1], [2, 3], [4]]),
        (0, None, [[0], [1], [2], [3], [4]]),
        (100, 4, [[0, 1, 2, 3], [4]]),
    ],
)
def test_batches_keep_the_budget_or_hold_one_item(max_cost, max_items, expected):
    costs = np.array([2, 3, 9, 1, 4])
    found = budget_batches(costs, np.arange(5), max_cost, max_items)
    assert [batch.tolist() for batch in found] == expected


def test_rows_are_joined_cut_and_merged():
    a = Ragged.of_lengths(np.array([1, 2, 3]), np.array([2, 0, 1]))
    b = Ragged.of_lengths(np.array([7, 8]), np.array([0, 1, 1]))
    both = joined(a, b)
    assert both.items.tolist() == [1, 2, 7, 3, 8]
    assert both.lengths.tolist() == [2, 1, 2]
    assert both.cut(1).items.tolist() == [1, 7, 3]
    assert both.merged(np.array([2, 0, 1])).lengths.tolist() == [3, 0, 2]
    assert both.take(np.array([2, 0])).items.tolist() == [3, 8, 1, 2]
    assert both.padded(-1)[0].tolist() == [[1, 2], [7, -1], [3, 8]]


def test_rows_are_taken_in_the_order_that_is_asked_for():
    offsets, places = taken_rows(np.array([0, 2, 2, 5]), np.array([2, 1, 0, 2]))
    assert offsets.tolist() == [0, 3, 3, 5, 8]
    assert places.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
