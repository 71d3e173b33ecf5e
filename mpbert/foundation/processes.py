"""What all our worker processes do."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mpbert.foundation.errors import Terminated

TERMINATED = 128 + signal.SIGTERM  # exit code of a program that SIGTERM ended, as a shell says it
_PR_SET_PDEATHSIG = 1  # prctl(2)


def end_with_parent() -> None:
    """Let this process end when its parent does, even by SIGKILL (on Linux alone).

    Otherwise it would wait for work for ever, or keep an address that nobody can free.
    """
    import ctypes
    import multiprocessing  # both are slow to import, and the command line imports this module

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():  # it went before it could be asked for
        os._exit(1)


def end_with_agent() -> None:
    """Let a process that ``torch.distributed.run`` has started end with it, even by SIGKILL.

    Otherwise it would train on beside the processes that are started in its place.
    """
    if "TORCHELASTIC_RUN_ID" in os.environ:
        end_with_parent()


def keep_few_kernels() -> None:
    """Let oneDNN and torch keep kernels of few shapes; call this before the first matrix product.

    Each keeps those of ``1,024`` shapes otherwise. A batch has another number of tokens than the
    one before it: its kernels serve all layers of one pass, and no later one.
    """
    for name in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(name, "64")


@contextmanager
def done_beside(check: Callable[..., None], *asked: object) -> Iterator[Callable[[], None]]:
    """Let a check run in another thread beside the block; what is yielded waits for its result.

    Where the block fails and so does the check, that is why.
    """
    from concurrent.futures import ThreadPoolExecutor  # slow to import, too

    with ThreadPoolExecutor(1) as beside:
        checked = beside.submit(check, *asked)
        try:
            yield checked.result
        except Exception:
            checked.result()
            raise


@contextmanager
def on_sigterm(act: Callable[[], object]) -> Iterator[None]:
    """Call a function when SIGTERM comes inside the block, in place of ending this process.

    Outside of the main thread, which alone gets signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def ended_by_sigterm(message: str) -> Iterator[None]:
    """Let SIGTERM end what is done inside as Ctrl+C does, but for what acts on it by itself.

    :raises Terminated: it came; with the message.
    """

    def end() -> None:
        raise Terminated(message)

    with on_sigterm(end):
        yield
