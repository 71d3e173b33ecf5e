"""Stand-ins for programs that tests start: forked from a process that has imported all already."""

import os
import sys
from multiprocessing.context import BaseContext
from subprocess import DEVNULL, PIPE, STDOUT
from types import SimpleNamespace

# what a forked process executes before a program
_BEGIN = """
import os, sys
for end, numbers in ends:
    for number in numbers:
        os.dup2(end.fileno(), number)
    end.close()
os.chdir(place)
os.environ.clear()
os.environ.update(environment)
import torch
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
"""
_PROGRAMS = {
    "mpbert.model.fairseq_plugin.compat": """
sys.argv = ["train", *words]
import mpbert.model.fairseq_plugin.compat
mpbert.model.fairseq_plugin.compat.main()
""",
    # the step that it measures is forked once more, and not run as a program
    "mpbert.experiments.measured": """
from types import SimpleNamespace
from mpbert.cli import main
from mpbert.experiments import measured
def fork(command, **_):
    assert command[:3] == [sys.executable, "-m", "mpbert"]
    if child := os.fork():
        return SimpleNamespace(pid=child)
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    code = main(command[3:])
    sys.stdout.flush(), sys.stderr.flush()
    os._exit(code)
sys.stdin = open(0, closefd=False)  # it was closed
measured.subprocess = SimpleNamespace(Popen=fork, DEVNULL=None)
sys.argv = ["measured", *words]
measured._main()
""",
}


class _Forked:
    """Stands for the Popen of one of these programs."""

    def __init__(
        self,
        server: BaseContext,
        words: list[str],
        env: dict[str, str],
        stdin: int = DEVNULL,
        stderr: int = STDOUT,
        **_: object,
    ) -> None:
        assert words[:2] == [sys.executable, "-m"]
        (read, output), ends = server.Pipe(duplex=False), []
        self.stdout, self.stderr, self.stdin = _file(read), None, None
        if stderr == PIPE:
            read, errors = server.Pipe(duplex=False)
            self.stderr = _file(read)
            ends.append((errors, (2,)))
        ends.append((output, (1,) if self.stderr else (1, 2)))
        if stdin == PIPE:
            given, write = server.Pipe(duplex=False)
            self.stdin = _file(write, "w")
            ends.append((given, (0,)))
        known = {"ends": ends, "words": words[3:], "environment": env, "place": os.getcwd()}
        self._process = server.Process(target=exec, args=(_BEGIN + _PROGRAMS[words[2]], known))
        self._process.start()
        for end, _numbers in ends:
            end.close()

    def __enter__(self) -> "_Forked":
        return self

    def __exit__(self, *_: object) -> None:
        for file in filter(None, (self.stdin, self.stdout, self.stderr)):
            file.close()
        self._process.join()
        self.returncode = self._process.exitcode

    def terminate(self) -> None:
        self._process.terminate()


def _file(end: object, mode: str = "r") -> object:
    with end:
        return open(os.dup(end.fileno()), mode, errors="replace")


def forked_programs(server: BaseContext) -> SimpleNamespace:
    """Return what stands for the module ``subprocess``."""

    def start(words: list[str], **named: object) -> _Forked:
        return _Forked(server, words, **named)

    return SimpleNamespace(Popen=start, PIPE=PIPE, STDOUT=STDOUT, DEVNULL=DEVNULL)
