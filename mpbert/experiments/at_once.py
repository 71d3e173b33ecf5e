"""Work that waits for other work, in several threads."""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol


class Locks:
    """A lock for each key, such as a path that several threads may write."""

    def __init__(self) -> None:
        self._lock, self._of = threading.Lock(), defaultdict(threading.Lock)

    def of(self, key: object) -> threading.Lock:
        """Return the lock of a key."""
        with self._lock:
            return self._of[key]


class Agenda(Protocol):
    """What is to be done, part by part, and which may be begun. Only one thread asks and tells.

    ``most`` is how many parts there may be.
    """

    most: int

    def begin(self) -> Any | None:
        """Return a part that is begun now; None: no other before one that runs has ended."""

    def end(self, part: Any, found: Any) -> None:
        """Take what came of a part."""


class Waiting:
    """The numbers 0, 1, ..., each of which waits for others.

    :param needs: (N,) numbers that have to end before that of a number is begun.
    """

    def __init__(self, needs: Sequence[Collection[int]]) -> None:
        self.most = len(needs)
        self._needs, self._waiting, self._done = needs, list(range(len(needs))), set()

    def begin(self) -> int | None:
        """Return the first number that waits for none that has not ended."""
        for number in self._waiting:
            if self._done.issuperset(self._needs[number]):
                self._waiting.remove(number)
                return number
        return None

    def end(self, part: int, found: object) -> None:
        """Let those be begun that waited for a number."""
        self._done.add(part)


def run_at_once(
    agenda: Agenda, act: Callable[[Any], Any], at_once: int, stop: Callable[[], object]
) -> None:
    """Call a function with the parts of an agenda, in threads.

    :param stop: lets calls that run return soon; called where one failed, or a signal came.
    :raises Exception: what a call raised, once all that run have returned.
    """
    running: dict[Future[Any], Any] = {}
    with ThreadPoolExecutor(at_once) as threads:
        try:
            while True:
                while len(running) < at_once and (part := agenda.begin()) is not None:
                    running[threads.submit(act, part)] = part
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    agenda.end(running.pop(future), future.result())
        except BaseException:
            stop()
            raise
