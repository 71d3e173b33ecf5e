"""What all our worker processes do."""

import ctypes
import multiprocessing
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2)


def end_with_parent() -> None:
    """Let this process end when its parent does, even by SIGKILL (on Linux alone).

    Otherwise it would wait for work for ever, or keep an address that nobody can free.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():  # it went before it could be asked for
        os._exit(1)
