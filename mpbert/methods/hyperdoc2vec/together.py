"""Threads that run one compiled function together, and wait for one another in it."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_SPINS = 4096  # looks at the counter before the core is offered to others
_LINE = 8  # numbers of a cache line

_give_way = types.ExternalFunction("sched_yield", types.int32())


def run_together(task: Callable[[int, np.ndarray], None], num_threads: int) -> None:
    """Run ``task(thread, barrier)`` in as many threads at the same time, and wait for all.

    :param task: compiled, without Python's lock; ``barrier`` is for :func:`wait_for_all`.
    """
    barrier = np.zeros(_LINE, dtype=np.int64)
    if num_threads == 1:
        task(0, barrier)
        return
    begun = threading.Barrier(num_threads)

    def run(thread: int) -> None:
        begun.wait()  # none begins where one cannot be started
        task(thread, barrier)

    with ThreadPoolExecutor(num_threads) as pool:
        try:
            running = [pool.submit(run, thread) for thread in range(num_threads)]
        except BaseException:
            begun.abort()
            raise
        for each in running:
            each.result()


def _counter(context, builder, array_type, array):
    return context.make_array(array_type)(context, builder, array).data


@intrinsic
def _arrive(typing_context, barrier):
    def build(context, builder, signature, arguments):
        counter = _counter(context, builder, signature.args[0], arguments[0])
        return builder.atomic_rmw("add", counter, ir.IntType(64)(1), "acq_rel")

    return types.int64(barrier), build


@intrinsic
def _arrived(typing_context, barrier):
    def build(context, builder, signature, arguments):
        counter = _counter(context, builder, signature.args[0], arguments[0])
        return builder.load_atomic(counter, "acquire", 8)

    return types.int64(barrier), build


@njit
def wait_for_all(barrier, num_threads):
    """Return when every thread has come here as often as this one."""
    if num_threads == 1:
        return
    before = _arrive(barrier)
    awaited = before - before % num_threads + num_threads
    spins = 0
    while _arrived(barrier) < awaited:
        spins += 1
        if spins % _SPINS == 0:
            _give_way()
