"""Work that waits for other work, in several threads."""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait


class Locks:
    """A lock for each key, such as a path that several threads may write."""

    def __init__(self) -> None:
        self._lock, self._of = threading.Lock(), defaultdict(threading.Lock)

    def of(self, key: object) -> threading.Lock:
        """Return the lock of a key."""
        with self._lock:
            return self._of[key]


def run_at_once(
    needs: Sequence[Collection[int]],
    act: Callable[[int], object],
    at_once: int,
    stop: Callable[[], object],
) -> None:
    """Call a function with 0, 1, ... in threads; the first that can be begun comes first.

    :param needs: (N,) numbers whose calls have to return before that of a number is begun.
    :param stop: lets calls that run return soon; called where one failed, or a signal came.
    :raises Exception: what a call raised, once all that run have returned.
    """
    waiting, done = list(range(len(needs))), set()
    running: dict[Future[object], int] = {}
    with ThreadPoolExecutor(at_once) as threads:
        try:
            while waiting or running:
                ready = [number for number in waiting if done.issuperset(needs[number])]
                for number in ready[: at_once - len(running)]:
                    waiting.remove(number)
                    running[threads.submit(act, number)] = number
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    done.add(running.pop(future))
                    future.result()
        except BaseException:
            stop()
            raise
