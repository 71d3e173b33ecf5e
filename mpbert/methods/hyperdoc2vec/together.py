"""Threads that share the tasks of one compiled function, stage by stage.

A stage is open when all tasks of the stages before it are done. Whoever is there takes the next
task; a thread without a core holds nobody up, unless it lost its core within a task. Tasks are
numbered through all stages, so two counters tell all: of tasks taken, and of tasks done.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_SPINS = 1024  # looks at a counter before the core is offered to others
_TAKEN, _DONE, _THREADS = 0, 8, 16  # places of the counters, on cache lines of their own

_give_way = types.ExternalFunction("sched_yield", types.int32())


def num_threads() -> int:
    """Return how many threads share tasks: numba's number or OpenMP's, if given, or one a core.

    numba's own ``get_num_threads`` starts its threads. OpenMP takes their number, too, and what
    torch computes afterwards would have a thread a core, whatever ``OMP_NUM_THREADS`` says.
    """
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        first = os.environ.get(name, "").partition(",")[0]  # OpenMP has one a level
        if first.isdecimal() and int(first):
            return int(first)
    return int(numba.config.NUMBA_DEFAULT_NUM_THREADS)


def run_together(work: Callable[[np.ndarray], None], num_threads: int) -> None:
    """Run ``work(counters)`` in as many threads at the same time, and wait for all.

    :param work: compiled, without Python's lock; see :func:`take`.
    """
    counters = np.zeros(_THREADS + _DONE, dtype=np.int64)
    if num_threads == 1:
        work(counters)
        return
    with ThreadPoolExecutor(num_threads) as pool:
        running = [pool.submit(work, counters) for _ in range(num_threads)]
        for each in running:
            each.result()


def _at(context, builder, signature, arguments):
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


@intrinsic
def _look(typing_context, counters, place):
    def build(context, builder, signature, arguments):
        return builder.load_atomic(_at(context, builder, signature, arguments), "acquire", 8)

    return types.int64(counters, types.int64), build


@intrinsic
def _add_one(typing_context, counters, place):
    def build(context, builder, signature, arguments):
        counter = _at(context, builder, signature, arguments)
        return builder.atomic_rmw("add", counter, ir.IntType(64)(1), "acq_rel")

    return types.int64(counters, types.int64), build


@intrinsic
def _replace(typing_context, counters, place, old, new):
    def build(context, builder, signature, arguments):
        counter = _at(context, builder, signature, arguments)
        found = builder.cmpxchg(counter, *arguments[2:], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(counters, types.int64, types.int64, types.int64), build


@njit(inline="always")
def take(counters, end):
    """Return the next task before number ``end``, of the stage that is open, or -1: all are taken.

    A thread that took a task calls :func:`finish` after it, and one that found none
    :func:`wait_until_done`.
    """
    task = _look(counters, _TAKEN)
    while task < end:
        if _replace(counters, _TAKEN, task, task + 1):
            return task
        task = _look(counters, _TAKEN)
    return -1


@njit(inline="always")
def number_of_this_thread(counters):
    """Return 0, 1, ... in the order in which the threads ask; each asks once."""
    return _add_one(counters, _THREADS)


@njit(inline="always")
def finish(counters):
    """Say that a task is done, and show the other threads what it wrote."""
    _add_one(counters, _DONE)


@njit
def tasks_of(counters, begin, end):
    """Yield, from 0, tasks ``begin`` to ``end`` - 1 that this thread takes; then wait for all."""
    task = take(counters, end)
    while task >= 0:
        yield task - begin
        finish(counters)
        task = take(counters, end)
    wait_until_done(counters, end)


@njit
def wait_until_done(counters, end):
    """Return when all tasks before number ``end`` are done."""
    spins = 0
    while _look(counters, _DONE) < end:
        spins += 1
        if spins % _SPINS == 0:
            _give_way()
