"""Tasks of Ray Core make the parts: on all cores of a cluster, or of this machine.

Ray schedules tasks, moves items and results, and starts tasks again that a dead process or a lost
machine ran. So a task may run twice: it writes nothing. This process alone writes the parts, each
under a name of its own that is then changed, and the output from them, its manifest last.
"""

import dataclasses
import logging
import os
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import mpbert
from mpbert.foundation.engines import Engine, Job, Maker
from mpbert.foundation.errors import MpbertError
from mpbert.foundation.objects import place_here, shared_place
from mpbert.foundation.parts import Arrays, PartFiles

logger = logging.getLogger(__name__)
_WAITING = 2  # tasks a core that were handed out and have not ended: bounds what waits in memory
_TRIES = 10  # of a task whose process or machine dies
_LOOK = 5.0  # seconds between two looks at which machines there are


class RayEngine(Engine):
    """The cluster of an address; one that this process is connected to already is taken as it is.

    :param address: ``HOST:PORT`` of its head; empty: the cluster that this machine belongs to or
        that RAY_ADDRESS names, or a new one on this machine, which ends with the block.
    """

    def __init__(self, address: str = "") -> None:
        self._address, self._is_ours = address, False
        self._sent: tuple[Job, list[Any]] | None = None  # what was done last, for further items

    def __enter__(self) -> Self:
        """Connect to the cluster.

        :raises ModuleNotFoundError: Ray is not installed.
        :raises MpbertError: there is no cluster at the address.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anyone
        import ray

        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            if self._address:
                _check_reachable(self._address)
            try:
                ray.init(
                    address=self._address or None,
                    logging_level=logging.ERROR,
                    log_to_driver=False,
                    include_dashboard=False,
                )
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                raise _no_cluster(self._address, error) from error
        self._cores = 0
        self._look()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the cluster; what still runs there is ended."""
        import ray

        if self._is_ours:
            ray.shutdown()

    def results(self, work: Job, items: Iterable[Any], parts: PartFiles | None) -> Iterator[Arrays]:
        """Yield the part of each item, see :meth:`Engine.results`.

        Parts wait on disk for those before them.
        """
        with ExitStack() as stack:
            if parts is None:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mpbert-"))
                parts = PartFiles(Path(folder), "part")
            if self._sent is None or self._sent[0] != work:
                self._sent = work, _sent(work)
            tasks = _Tasks(work, self._sent[1], parts)
            ready, given = 0, 0
            for place, item in enumerate(items):
                while len(tasks.running) >= _WAITING * self._look():
                    tasks.end_one()
                tasks.begin(place, item)
                given = place + 1
                while ready < given and not tasks.is_running(ready):
                    yield parts.load(ready)
                    ready += 1
            while ready < given:
                while tasks.is_running(ready):
                    self._look()
                    tasks.end_one()
                yield parts.load(ready)
                ready += 1

    def _look(self) -> int:
        """Return the cores of the cluster; tell when they are others than before."""
        import ray

        now = time.monotonic()
        if self._cores and now - self._looked < _LOOK:
            return self._cores
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        cores = max(1, int(sum(resources.get("CPU", 0) for resources in nodes)))
        if cores != self._cores:
            logger.info("ray: %s machines, %s cores", len(nodes), cores)
        self._cores, self._looked = cores, now
        return cores


class _Tasks:
    """The tasks of one work that were handed out and have not ended, by place.

    None is cancelled: a task that ends while it is cancelled aborts this whole process (Ray 2.60,
    "Tried to complete task that was not pending"). Those that nobody waits for any more write
    nothing, and end with the job at the latest.
    """

    def __init__(self, work: Job, sent: list[Any], parts: PartFiles) -> None:
        import ray

        self._parts, self._work, self._sent = parts, type(work).__name__, sent
        options = {"num_cpus": 1, "num_gpus": work.gpus, "max_retries": _TRIES}
        self._make = ray.remote(**options)(_make)
        self.running: dict[Any, int] = {}
        self._places: set[int] = set()

    def is_running(self, place: int) -> bool:
        """Return whether the part of a place is still being made."""
        return place in self._places

    def begin(self, place: int, item: Any) -> None:
        """Hand out the task of a place, unless its part is there."""
        if not self._parts.has(place):
            self.running[self._make.remote(self._sent, item)] = place
            self._places.add(place)

    def end_one(self) -> None:
        """Wait a moment for any task; save what it made.

        :raises MpbertError: what the work raised, or the task died again and again.
        """
        import ray

        for done in ray.wait(list(self.running), num_returns=1, timeout=_LOOK)[0]:
            try:
                made = ray.get(done)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from error
            except ray.exceptions.RayError as error:
                reason = " ".join(str(error).split())[:300]
                raise MpbertError(
                    f"ray: a task of {self._work} ended {_TRIES} times without a result "
                    f"({reason}); expected machines with memory for as many tasks as they have "
                    f"cores: start them with fewer, as ray start --num-cpus says; the same command "
                    f"goes on from the finished parts"
                ) from error
            place = self.running.pop(done)
            self._parts.save(place, made)
            self._places.remove(place)


def _sent(work: Job) -> list[Any]:
    """Return a work for other machines: our version, the work, its paths as these find them.

    :returns: a reference to it; in a list, where a task gets the reference and not what it is of.
    """
    import ray

    places = {
        field.name: shared_place(value)
        for field in dataclasses.fields(work)  # type: ignore[arg-type]
        if isinstance(value := getattr(work, field.name), Path)
    }
    return [ray.put((mpbert.__version__, work, places))]


_opened: dict[str, Maker] = {}  # by reference, in a process of Ray: the work that it did last


def _make(sent: list[Any], item: Any) -> Arrays:
    """Make a part, in a process of Ray; a work is opened by the first of its tasks there."""
    os.environ.setdefault("RAYON_NUM_THREADS", "1")  # a task has one core, as Ray tells OpenMP
    key = sent[0].hex()
    if key not in _opened:
        import ray

        _opened.clear()
        version, work, places = ray.get(sent[0])
        machine = socket.gethostname()
        if version != mpbert.__version__:
            raise MpbertError(
                f"ray: machine {machine} has mpbert {mpbert.__version__}; expected {version}, as "
                f"where the command runs: install the same version everywhere"
            )
        here = {name: place_here(place, machine) for name, place in places.items()}
        _opened[key] = dataclasses.replace(work, **here).open()
    for path in _paths_in(item):
        place_here(str(path), socket.gethostname())
    return _opened[key](item)


def _paths_in(item: Any) -> Iterator[Path]:
    """Yield the paths of files that an item is about."""
    if isinstance(item, Path):
        yield item
    elif isinstance(item, (list, tuple)):
        for each in item:
            yield from _paths_in(each)


def _check_reachable(address: str) -> None:
    """Refuse an address where nobody listens: Ray would try for a minute, and then end us.

    :raises MpbertError: nobody listens there.
    """
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, error) from error


def _no_cluster(address: str, error: Exception) -> MpbertError:
    reason = " ".join(str(error).split())[:300]
    named = f"ray://{address}" if address else "ray"
    return MpbertError(
        f"--engine {named}: found no cluster ({reason}); expected the address that ray start "
        f"--head prints, from a machine that has joined the cluster"
    )
