"""Run a command line and measure it: seconds, CPU seconds, and peak memory of its processes.

On Linux a process begins with the peak memory of the one it was forked from. So a small process
stands between: this module as a program, ``python -m mpbert.experiments.measured``. It also ends
the command when the process that asked for it is gone, however that ended, and records what it took
up to then; so it is of another process group, which a signal to all of ours does not reach.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mpbert.experiments.cost import append_record
from mpbert.foundation.errors import StoppedError
from mpbert.foundation.logs import message_of, relay
from mpbert.foundation.processes import on_sigterm

_GRACE = 30.0  # seconds between asking the command to end and ending it


@dataclass(frozen=True)
class Measured:
    """What a command line took.

    :param cpu_seconds: user and system time of it and all processes it waited for.
    :param peak_mib: peak memory of the largest of these processes.
    :param exit_code: negative: the signal that ended it.
    :param last_line: what it wrote last.
    :param was_stopped: whether it was asked to end, since SIGTERM had come to us.
    """

    seconds: float
    cpu_seconds: float
    peak_mib: int
    exit_code: int
    last_line: str = ""
    was_stopped: bool = False


class Stop:
    """Asks commands of several threads to end, where a signal reaches the main thread alone."""

    def __init__(self) -> None:
        self._lock, self._ends, self._was_asked = threading.Lock(), [], False

    def ask(self) -> None:
        """Ask all to end that run, and each that is begun from now on."""
        with self._lock:
            self._was_asked = True
            for end in self._ends:
                end()

    def check(self) -> None:
        """Do nothing, unless it was asked.

        :raises StoppedError: it was, so nothing is to be begun.
        """
        with self._lock:
            if self._was_asked:
                raise StoppedError("stopped; run this again, and it goes on")

    @contextlib.contextmanager
    def reaching(self, end: Callable[[], object]) -> Iterator[None]:
        """Call a function when it is asked inside the block, or was before."""
        with self._lock:
            self._ends.append(end)
            if self._was_asked:
                end()
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)


def run_measured(
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Path | None = None,
    named: Mapping[str, str] | None = None,
    label: str = "",
    stop: Stop | None = None,
) -> Measured:
    """Run a command line, show what it writes on our standard error, and measure it.

    SIGTERM to us asks the command to end, and we see it do so.

    :param log: file to which a record of it, as of :mod:`mpbert.experiments.cost`, is appended.
    :param named: what the record says of the command, beside what it took.
    :param label: what stands before the lines that it writes, where others run beside it.
    :param stop: asks it to end in the place of SIGTERM.
    """
    start, last_line, stopped = time.monotonic(), "", threading.Event()
    record = [str(log or ""), json.dumps(dict(named or {}))]
    with (
        subprocess.Popen(
            [sys.executable, "-m", "mpbert.experiments.measured", *record, *command],
            stdin=subprocess.PIPE,  # closed when we end
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environment,
            text=True,
            errors="replace",
        ) as process,
        (stop.reaching if stop else on_sigterm)(lambda: (stopped.set(), process.stdin.close())),
    ):
        for line in process.stderr:
            relay(line, label)
            last_line = message_of(line.strip()) or last_line
        found = process.stdout.read()
    if not found:  # it was killed, or there is no such command
        code = process.returncode or 1
        return Measured(time.monotonic() - start, 0.0, 0, code, last_line, stopped.is_set())
    return Measured(**json.loads(found), last_line=last_line, was_stopped=stopped.is_set())


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def has_gpu() -> bool:
    """Return whether processes see a GPU of NVIDIA (on Linux alone)."""
    is_hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    return not is_hidden and any(Path("/dev").glob("nvidia[0-9]*"))


def _main() -> None:
    start = time.monotonic()
    log, named, *command = sys.argv[1:]
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True
    )
    threading.Thread(target=_end_with_asker, args=(child.pid,), daemon=True).start()
    _, status, usage = os.wait4(child.pid, 0)
    found = {
        "seconds": round(time.monotonic() - start, 2),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mib": usage.ru_maxrss // 1024,
        "exit_code": os.waitstatus_to_exitcode(status),
    }
    if log:
        append_record(Path(log), {**json.loads(named), **found, "cores": cores(), "gpu": has_gpu()})
    with contextlib.suppress(BrokenPipeError):  # nobody is there to read it
        print(json.dumps(found), flush=True)
    os._exit(0)  # the thread is reading, and Python would wait for its lock


def _end_with_asker(child: int) -> None:
    sys.stdin.buffer.read()
    os.killpg(child, signal.SIGTERM)
    time.sleep(_GRACE)
    os.killpg(child, signal.SIGKILL)


if __name__ == "__main__":
    _main()
