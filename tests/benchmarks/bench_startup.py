"""CPU time of ``import mpbert`` and of each ``--help``, beside an empty Python program.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_startup.py [INDEX TEXT]``; with these,
``recommend`` from a cold start, too. User and system time, the best of five; where it goes:
``python -X importtime -m mpbert COMMAND --help``.
"""

import resource
import subprocess
import sys

from contest import print_row

from mpbert.cli import COMMANDS

ROUNDS = 5


def cpu_seconds(*arguments: str, rounds: int = ROUNDS) -> float:
    best = float("inf")
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, used)
    return best


def main() -> None:
    empty = cpu_seconds("-c", "pass")
    slowest = max(COMMANDS, key=lambda name: cpu_seconds("-m", "mpbert", name, "--help", rounds=1))
    of_slowest = cpu_seconds("-m", "mpbert", slowest, "--help")
    for what, goal, seconds in (
        ("import mpbert", "<= 0.15 s", cpu_seconds("-c", "import mpbert")),
        ("mpbert --help", "<= 0.3 s", cpu_seconds("-m", "mpbert", "--help")),
        (f"mpbert {slowest} --help, the slowest", "-", of_slowest),
    ):
        shown = f"{seconds:.3f} s", f"{empty:.3f} s"
        print_row(what, "empty program", goal, seconds / empty, *shown, "-")
    if asked := sys.argv[1:]:
        seconds = cpu_seconds("-m", "mpbert", "recommend", *asked)
        shown = f"{seconds:.3f} s", f"{empty:.3f} s"
        print_row("mpbert recommend", "empty program", "<= 1.5 s", seconds / empty, *shown, "-")


if __name__ == "__main__":
    main()
