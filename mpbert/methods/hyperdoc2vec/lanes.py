"""Sixteen neighbouring numbers of a row at once, for compiled loops: a register of AVX-512.

Loops over rows, left to the compiler, check at each row whether arrays overlap, and take the last
numbers of a row one by one. Here a row has a multiple of 16 numbers. Every order of adding is
written down, so the bits do not depend on what the compiler chooses; whether a product is rounded
before it is added depends on the machine.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel
from numba.extending import intrinsic, register_model

from mpbert.methods.hyperdoc2vec.together import run_together

LANES = 16
_FLOAT, _INT = ir.FloatType(), ir.IntType(32)
_BLOCK = ir.VectorType(_FLOAT, LANES)
_ZEROS = ir.Constant(_BLOCK, [0.0] * LANES)


def empty_rows(num_rows: int, dim: int) -> np.ndarray:
    """Return a matrix (num_rows, dim, or the next multiple of 16), each row on lines of its own."""
    columns = -(-dim // LANES) * LANES
    memory = np.empty(num_rows * columns + LANES, dtype=np.float32)
    start = -memory.ctypes.data % (4 * LANES) // 4
    return memory[start : start + num_rows * columns].reshape(num_rows, columns)


def whole_blocks(matrix: np.ndarray) -> np.ndarray:
    """Return a float32 matrix whose rows are whole blocks: itself, or a copy that ends in zeros."""
    if matrix.shape[1] % LANES == 0 and matrix.flags.c_contiguous:
        return matrix
    rows = empty_rows(*matrix.shape)
    rows[:, : matrix.shape[1]] = matrix
    rows[:, matrix.shape[1] :] = 0
    return rows


def run_on_blocks(
    train: Callable[..., None], matrices: Sequence[np.ndarray], *others: object, num_threads: int
) -> None:
    """Run ``train(*matrices, *others, num_threads, counters)``, by threads that share the tasks.

    :param train: compiled; it changes the matrices, whose rows it gets as whole blocks.
    """
    blocks = [whole_blocks(matrix) for matrix in matrices]
    run_together(partial(train, *blocks, *others, num_threads), num_threads)
    for matrix, changed in zip(matrices, blocks, strict=True):
        if changed is not matrix:
            matrix[:] = changed[:, : matrix.shape[1]]


class _Lanes(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"Lanes({LANES} x float32)")


lanes = _Lanes()


@register_model(_Lanes)
class _LanesModel(PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _BLOCK)


def _pointer(context, builder, signature, arguments):
    """Return a pointer to the block of a matrix at a row and a column."""
    matrix, row, column = arguments[:3]
    struct = context.make_array(signature.args[0])(context, builder, matrix)
    stride = cgutils.unpack_tuple(builder, struct.strides, 2)[0]
    place = builder.add(builder.mul(row, stride), builder.mul(column, column.type(4)))
    begin = builder.bitcast(struct.data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(begin, [place]), _BLOCK.as_pointer())


def _shuffled(builder, one, other, chosen):
    kind = ir.VectorType(_INT, len(chosen))
    return builder.shuffle_vector(one, other, ir.Constant(kind, chosen))


def _splat(builder, number):
    single = builder.insert_element(_ZEROS, number, _INT(0))
    return _shuffled(builder, single, _ZEROS, [0] * LANES)


def _fused(builder, one, other, total):
    kind = ir.FunctionType(_BLOCK, [_BLOCK] * 3)
    call = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f32")
    return builder.call(call, [one, other, total])


@intrinsic
def load(typing_context, matrix, row, column):
    """Return the block of a row that begins at a column."""

    def build(context, builder, signature, arguments):
        return builder.load(_pointer(context, builder, signature, arguments), align=4)

    return lanes(matrix, types.int64, types.int64), build


@intrinsic
def store(typing_context, matrix, row, column, values):
    """Write a block into a row from a column on."""

    def build(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        builder.store(arguments[3], pointer, align=4)
        return context.get_dummy_value()

    return types.void(matrix, types.int64, types.int64, lanes), build


@intrinsic
def _prefetch(typing_context, matrix, row, column):
    def build(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        place = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, _INT, _INT, _INT])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(call, [place, _INT(0), _INT(3), _INT(1)])  # to read, often, data
        return context.get_dummy_value()

    return types.void(matrix, types.int64, types.int64), build


@intrinsic
def zeros(typing_context):
    """Return 16 times 0."""
    return lanes(), lambda context, builder, signature, arguments: _ZEROS


@intrinsic
def plus(typing_context, one, other):
    """Return 16 sums."""
    return lanes(lanes, lanes), lambda c, builder, s, pair: builder.fadd(*pair)


@intrinsic
def minus(typing_context, one, other):
    """Return 16 differences."""
    return lanes(lanes, lanes), lambda c, builder, s, pair: builder.fsub(*pair)


@intrinsic
def times(typing_context, values, factor):
    """Return 16 numbers times a number."""

    def build(context, builder, signature, arguments):
        values, factor = arguments
        return builder.fmul(values, _splat(builder, factor))

    return lanes(lanes, types.float32), build


@intrinsic
def plus_times(typing_context, total, values, factor):
    """Return 16 sums, with 16 numbers times a number."""

    def build(context, builder, signature, arguments):
        total, values, factor = arguments
        return _fused(builder, values, _splat(builder, factor), total)

    return lanes(lanes, lanes, types.float32), build


@intrinsic
def plus_products(typing_context, total, one, other):
    """Return 16 sums, with 16 products."""

    def build(context, builder, signature, arguments):
        total, one, other = arguments
        return _fused(builder, one, other, total)

    return lanes(lanes, lanes, lanes), build


@intrinsic
def only(typing_context, number):
    """Return a number and 15 times 0."""

    def build(context, builder, signature, arguments):
        return builder.insert_element(_ZEROS, arguments[0], _INT(0))

    return lanes(types.float32), build


@intrinsic
def _load_half(typing_context, matrix, row, column):
    """Return 8 numbers of a row from a column on, and 8 times 0."""

    def build(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        kind = ir.VectorType(_FLOAT, LANES // 2)
        numbers = builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4)
        nothing = ir.Constant(kind, [0.0] * (LANES // 2))
        return _shuffled(builder, numbers, nothing, list(range(LANES)))

    return lanes(matrix, types.int64, types.int64), build


@intrinsic
def added_up(typing_context, values):
    """Return the sum of 16 numbers: one half is added to the other, until one number is left."""

    def build(context, builder, signature, arguments):
        (values,), count = arguments, LANES
        while count > 1:
            count //= 2
            low, high = list(range(count)), list(range(count, 2 * count))
            values = builder.fadd(
                _shuffled(builder, values, values, low), _shuffled(builder, values, values, high)
            )
        return builder.extract_element(values, _INT(0))

    return types.float32(lanes), build


@njit(inline="always")
def dot(one, row, other, other_row, dim):
    """Return the dot product of the first ``dim`` numbers of two rows.

    Four sums of 16 numbers each, as far as 64 numbers remain; then 8 at a time; then one by one.
    """
    large, small = dim - dim % 64, dim - dim % 8
    a, b, c, d = zeros(), zeros(), zeros(), zeros()
    for j in range(0, large, 64):
        a = plus_products(a, load(one, row, j), load(other, other_row, j))
        b = plus_products(b, load(one, row, j + 16), load(other, other_row, j + 16))
        c = plus_products(c, load(one, row, j + 32), load(other, other_row, j + 32))
        d = plus_products(d, load(one, row, j + 48), load(other, other_row, j + 48))
    score = added_up(plus(plus(b, a), plus(d, c)))
    if large < small:
        a = only(score)
        for j in range(large, small, 8):
            a = plus_products(a, _load_half(one, row, j), _load_half(other, other_row, j))
        score = added_up(a)
    for j in range(small, dim):
        score += one[row, j] * other[other_row, j]
    return score


@njit(inline="always")
def prefetch(matrix, row):
    """Begin to fetch a row that will be read soon."""
    for j in range(0, matrix.shape[1], LANES):
        _prefetch(matrix, row, j)


@njit(inline="always")
def add(matrix, row, factor, source, source_row):
    """Add a multiple of a row to another."""
    for j in range(0, matrix.shape[1], LANES):
        now = load(matrix, row, j)
        store(matrix, row, j, plus_times(now, load(source, source_row, j), factor))
