"""CPU time of ``import mpbert``, of each ``--help`` and of a first answer, beside bare Python.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_startup.py [INDEX TEXT]``; the default
is the index that the variable INDEX names, or runs/index/rfc, and datasets/rfc/example.txt.
``recommend`` starts, opens the index, answers and ends. User and system time, the best of five;
where it goes: ``python -X importtime -m mpbert COMMAND --help``.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

from contest import INDEX, print_row

from mpbert.cli import COMMANDS
from mpbert.recommending.directory import read_index_manifest

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
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a user has compiled files
    empty = cpu_seconds("-c", "pass")
    slowest = max(COMMANDS, key=lambda name: cpu_seconds("-m", "mpbert", name, "--help", rounds=1))
    of_slowest = cpu_seconds("-m", "mpbert", slowest, "--help")
    for what, goal, seconds in (
        ("import mpbert", "<= 0.15 s", cpu_seconds("-c", "import mpbert")),
        ("mpbert --help", "<= 0.3 s", cpu_seconds("-m", "mpbert", "--help")),
        (f"mpbert {slowest} --help, the slowest", "<= 0.3 s", of_slowest),
    ):
        shown = f"{seconds:.3f} s", f"{empty:.3f} s"
        print_row(what, "empty program", goal, seconds / empty, *shown, "-")
    index, text = sys.argv[1:] or (INDEX, "datasets/rfc/example.txt")
    papers = read_index_manifest(Path(index))["counts"]["papers"]
    seconds = cpu_seconds("-m", "mpbert", "recommend", index, text)
    numpy = cpu_seconds("-c", "import numpy")
    shown = f"{seconds:.3f} s", f"{numpy:.3f} s"
    what = f"mpbert recommend, {papers:,} papers, from a cold start"
    print_row(what, "Python and import numpy", "<= 1.5 s", seconds / numpy, *shown, "-")


if __name__ == "__main__":
    main()
