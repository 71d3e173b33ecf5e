import numpy as np
import pytest
from numba import njit

from mpbert.methods.hyperdoc2vec.lanes import add, dot, empty_rows, whole_blocks
from mpbert.methods.hyperdoc2vec.together import run_together, wait_for_all


@njit(fastmath={"contract"})
def dot_of_rows(one, row, other, other_row, dim):
    return dot(one, row, other, other_row, dim)


@njit
def add_row(matrix, row, factor, source, source_row):
    add(matrix, row, factor, source, source_row)


@njit(nogil=True)
def count_in_turn(cells, num_threads, rounds, thread, barrier):
    """Each thread writes what it read of its neighbour, in rounds: a race shows in the sums."""
    for turn in range(rounds):
        read = cells[(thread + 1) % num_threads]
        wait_for_all(barrier, num_threads)
        cells[thread] = read + turn
        wait_for_all(barrier, num_threads)


def rows_of(num, dim, seed):
    return np.random.default_rng(seed).normal(size=(num, dim)).astype(np.float32)


@pytest.mark.parametrize("dim", [1, 7, 8, 16, 63, 64, 100, 191])
def test_a_dot_product_of_blocks_is_that_of_the_rows(dim):
    one, other = rows_of(3, dim, 1), rows_of(4, dim, 2)
    found = dot_of_rows(whole_blocks(one), 1, whole_blocks(other), 3, dim)
    assert found == pytest.approx(float(one[1].astype(float) @ other[3]), abs=1e-4)


@pytest.mark.parametrize("dim", [5, 16, 100])
def test_adding_a_row_changes_this_row_alone(dim):
    matrix, source = rows_of(3, dim, 1), rows_of(2, dim, 2)
    blocks = whole_blocks(matrix.copy())
    add_row(blocks, 1, np.float32(0.5), whole_blocks(source), 0)
    expected = matrix.copy()
    expected[1] += np.float32(0.5) * source[0]
    assert np.allclose(blocks[:, :dim], expected, atol=1e-6)
    assert np.array_equal(blocks[[0, 2], :dim], matrix[[0, 2]])
    assert not blocks[:, dim:].any()


def test_rows_of_whole_blocks_are_not_copied_and_others_begin_on_lines():
    matrix = rows_of(3, 32, 1)
    assert whole_blocks(matrix) is matrix
    assert whole_blocks(matrix[:, :16]) is not matrix  # rows that do not lie together
    rows = empty_rows(5, 100)
    assert rows.shape == (5, 112)
    assert rows.ctypes.data % 64 == 0


@pytest.mark.parametrize("num_threads", [1, 2, 5])
def test_no_thread_passes_a_barrier_before_all_have_come(num_threads):
    cells = np.arange(num_threads, dtype=np.int64)
    expected = cells.copy()
    for turn in range(300):
        expected = np.roll(expected, -1) + turn
    run_together(
        lambda thread, barrier: count_in_turn(cells, num_threads, 300, thread, barrier), num_threads
    )
    assert np.array_equal(cells, expected)


def test_an_error_in_all_threads_is_raised():
    def fail(thread, barrier):
        raise ValueError(f"thread {thread}")

    with pytest.raises(ValueError, match="thread 0"):
        run_together(fail, 2)
