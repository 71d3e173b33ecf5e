"""Where the parts of an output are made: in processes of this machine, or on those of a cluster.

A command describes its work once, as a :class:`Job`, and takes what each item becomes, in their
order. It does not know where that was made. Parts that are there already are not made again, so
that a run goes on after a kill, also with another engine.
"""

import multiprocessing
import os
import signal
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from mpbert.foundation.errors import FullMemoryError
from mpbert.foundation.parts import Arrays, PartFiles
from mpbert.foundation.processes import end_with_parent

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Maker = Callable[[Any], Arrays]


class Job(ABC):
    """What makes a part out of an item: a frozen dataclass, which is sent to each process.

    Fields that are paths are inputs that each machine reads. All else should be small.
    """

    @abstractmethod
    def open(self) -> Maker:
        """Open the inputs, once a process; return what makes the part of an item.

        A part depends on nothing but its item and the fields, and may be made more than once.
        """

    @property
    def gpus(self) -> int:
        """How many GPUs a process needs."""
        return 0

    @property
    def uses_all_cores(self) -> bool:
        """Whether a process uses all cores, so that a machine runs one."""
        return False


class Engine(ABC):
    """Makes parts; a context manager: what it starts ends with the block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:  # noqa: B027 (our processes end with their work)
        """Do nothing, where nothing was started."""

    @abstractmethod
    def results(self, work: Job, items: Iterable[Any], parts: PartFiles | None) -> Iterator[Arrays]:
        """Yield the part of each item, in their order.

        :param items: each is what any process can read; they are taken as they are needed.
        :param parts: where finished parts stay for a later run; None: nowhere.
        :raises MpbertError: what the work raises.
        """


class OwnProcesses(Engine):
    """Processes of this machine.

    :param processes: how many at once; 1 means this process alone, as does a process with threads,
        such as the kernel of a notebook: a lock that a thread holds stays locked in a forked
        process, which may then wait for ever.
    """

    def __init__(self, processes: int = 1) -> None:
        self.processes = processes
        self._opened: tuple[Job, Maker] | None = None  # what was done last, for further items

    def results(self, work: Job, items: Iterable[Any], parts: PartFiles | None) -> Iterator[Arrays]:
        """Yield the part of each item, see :meth:`Engine.results`."""
        if self._opened is None or self._opened[0] != work:
            self._opened = work, work.open()
        make = partial(_kept, self._opened[1], parts)
        if self.processes == 1 or work.uses_all_cores or _has_threads():
            made: Iterator[Arrays | int] = map(make, enumerate(items))
            yield from _loaded(made, parts)
            return
        with _processes(self.processes, make) as pool:
            yield from _loaded(_in_order(pool, enumerate(items), 2 * self.processes), parts)


@contextmanager
def _processes(
    number: int, make: Callable[[tuple[int, Any]], Arrays | int]
) -> "Iterator[Executor]":
    """Give processes that make parts; where the block fails, they end at once.

    :raises FullMemoryError: one of them was killed, as the system does where memory is full.
    """
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    others = set(multiprocessing.active_children())
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(number, fork, _set_maker, (make,)) as pool:
        pool.submit(os.getpid)  # starts all
        own = set(multiprocessing.active_children()) - others
        try:
            yield pool
        except BaseException as error:  # also SIGTERM, and a caller who needs no more
            for process in own:
                process.kill()
            if isinstance(error, BrokenProcessPool):
                raise FullMemoryError(
                    "a process of this command was killed, as the system does where memory is "
                    "full; what is finished stays, run this again, with fewer commands beside it"
                ) from error
            raise


def _in_order(pool: "Executor", items: Iterable[Any], most: int) -> Iterator[Arrays | int]:
    """Yield what is made of items, in their order; at most so many wait, or are being made."""
    waiting: deque[Future[Arrays | int]] = deque()
    for item in items:
        waiting.append(pool.submit(_make_in_process, item))
        if len(waiting) > most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _kept(make: Maker, parts: PartFiles | None, numbered: tuple[int, Any]) -> Arrays | int:
    """Return a part; or its place, where it was saved or was there."""
    place, item = numbered
    if parts is None:
        return make(item)
    if not parts.has(place):
        parts.save(place, make(item))
    return place


def _loaded(made: Iterable[Arrays | int], parts: PartFiles | None) -> Iterator[Arrays]:
    for one in made:
        yield parts.load(one) if parts and isinstance(one, int) else one  # type: ignore[misc]


def _has_threads() -> bool:
    """Whether this process runs threads; that of a progress bar holds no lock that matters."""
    names = {thread.name for thread in threading.enumerate()}
    return bool(names - {threading.main_thread().name, "tqdm_monitor"})


def _set_maker(make: Callable[[tuple[int, Any]], Arrays | int]) -> None:
    global _make
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops its processes
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads stayed in the parent
    end_with_parent()
    _make = make


def _make_in_process(numbered: tuple[int, Any]) -> Arrays | int:
    return _make(numbered)
