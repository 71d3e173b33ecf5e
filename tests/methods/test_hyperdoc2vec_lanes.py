import numpy as np
import pytest
from numba import njit

from mpbert.methods.hyperdoc2vec.lanes import add, dot, empty_rows, whole_blocks
from mpbert.methods.hyperdoc2vec.together import finish, run_together, take, wait_until_done


@njit(fastmath={"contract"})
def dot_of_rows(one, row, other, other_row, dim):
    return dot(one, row, other, other_row, dim)


@njit
def add_row(matrix, row, factor, source, source_row):
    add(matrix, row, factor, source, source_row)


@njit(nogil=True)
def pass_on(cells, read, rounds, counters):
    """In each round a task reads its neighbour's cell; in a second stage each writes its own."""
    num, end = len(cells), 0
    for turn in range(rounds):
        begin, end = end, end + num
        task = take(counters, end)
        while task >= 0:
            read[turn, task - begin, 0] = cells[(task - begin + 1) % num] + turn
            finish(counters)
            task = take(counters, end)
        wait_until_done(counters, end)
        begin, end = end, end + num
        task = take(counters, end)
        while task >= 0:
            cells[task - begin] = read[turn, task - begin, 0]
            read[turn, task - begin, 1] += 1
            finish(counters)
            task = take(counters, end)
        wait_until_done(counters, end)


def rows_of(num, dim, seed):
    return np.random.default_rng(seed).normal(size=(num, dim)).astype(np.float32)


@pytest.mark.parametrize("dim", [1, 7, 8, 16, 63, 64, 100, 191])
def test_a_dot_product_of_blocks_is_that_of_the_rows(dim):
    one, other = rows_of(3, dim, 1), rows_of(4, dim, 2)
    found = dot_of_rows(whole_blocks(one), 1, whole_blocks(other), 3, dim)
    assert found == pytest.approx(float(one[1].astype(float) @ other[3]), abs=1e-4)


@pytest.mark.parametrize("dim", [8, 16, 100, 112])
def test_a_dot_product_reads_nothing_beside_the_rows(dim):
    one, other = whole_blocks(rows_of(3, dim, 1)), whole_blocks(rows_of(3, dim, 2))
    alone = dot_of_rows(one, 1, other, 1, dim)
    one[[0, 2]] = other[[0, 2]] = np.nan
    assert dot_of_rows(one, 1, other, 1, dim) == alone


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
def test_each_task_is_done_once_after_the_stage_before(num_threads):
    cells, rounds = np.arange(7, dtype=np.int64), 300
    read = np.zeros((rounds, 7, 2), dtype=np.int64)
    expected = cells.copy()
    for turn in range(rounds):
        expected = np.roll(expected, -1) + turn
    run_together(lambda counters: pass_on(cells, read, rounds, counters), num_threads)
    assert np.array_equal(cells, expected)
    assert (read[:, :, 1] == 1).all()


def test_an_error_in_a_thread_is_raised():
    def fail(counters):
        raise ValueError("no core")

    with pytest.raises(ValueError, match="no core"):
        run_together(fail, 2)
