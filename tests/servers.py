"""Programs that run beside the tests: they start within a time, and end with them at the latest.

Each has a process group of its own. A keeper in it waits for the end of a pipe, which comes however
the process of the tests ends, and then kills the group. So no server outlives a killed run.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

SECONDS = 180  # that a server may take to come up, beside other work
_KEEPER = """
import os, signal, subprocess, sys, threading
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)  # they are for the program
user = {"user": sys.argv[1]} if sys.argv[1] else {}
program = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, **user)
signal.signal(signal.SIGUSR1, lambda *_: program.kill())
def end():
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=end, daemon=True).start()
os._exit(program.wait() and 1)
"""


class NoServerError(Exception):
    """A program does not get so far that it answers."""


class Server:
    """A program in a process group of its own.

    :param words: its command line.
    :param log: file to which its output is added.
    :param user: as whom it runs, where that is not us.
    """

    def __init__(
        self,
        words: Sequence[object],
        log: Path,
        *,
        folder: Path | None = None,
        environment: dict[str, str] | None = None,
        user: str = "",
    ) -> None:
        self.log = log
        with log.open("ab") as output:
            self._keeper = subprocess.Popen(
                [sys.executable, "-c", _KEEPER, user, *map(str, words)],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )

    def has_ended(self) -> bool:
        """Return whether the program has ended."""
        return self._keeper.poll() is not None

    def wait_until_up(self, name: str, is_up: Callable[[], bool]) -> None:
        """Wait until it is up.

        :raises NoServerError: it has ended, or the time is over; it is killed.
        """
        end = time.monotonic() + SECONDS
        while not is_up():
            if self.has_ended() or time.monotonic() > end:
                what = "has ended" if self.has_ended() else f"is not up after {SECONDS} s"
                self.kill()
                said = " ".join(self.log.read_text(errors="replace")[-500:].split())
                raise NoServerError(f"{name} does not start here: it {what} ({said})")
            time.sleep(0.1)

    def end(self, number: int = signal.SIGTERM, seconds: float = 20) -> None:
        """Ask it to end; kill what has not ended in time."""
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(self._keeper.pid, number)
            self._keeper.wait(seconds)
        self.kill()

    def kill(self) -> None:
        """Kill it, wait until it is gone, and kill what it left in its group."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._keeper.send_signal(signal.SIGUSR1)
            self._keeper.wait(60)  # it takes a while where all cores are busy
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._keeper.pid, signal.SIGKILL)
        self._keeper.wait()
        self._keeper.stdin.close()


def free_ports(number: int) -> list[int]:
    """Return ports of this machine that nobody listens at."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in found:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in found]


def listens(port: int) -> bool:
    """Return whether somebody listens at a port of this machine."""
    with socket.socket() as tried:
        tried.settimeout(5)
        return tried.connect_ex(("127.0.0.1", port)) == 0
