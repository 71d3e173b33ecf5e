"""The whole quickstart, after installation: from 593 RFCs to a report and a better recommendation.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_quickstart.py [SCRIPT]``; the default is
eval/quickstart.sh, a quarter of an hour. It runs in a copy of this folder without its outputs, so
that nothing is reused. A step is a line that begins with ``==``; the first recommendation is there
when the second step begins.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from contest import print_row

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "runs", "docs", "tests", "__pycache__")


def seconds_of_steps(script: str, folder: Path) -> list[float]:
    """Return when each step of a script began, and when the script ended, in seconds."""
    environment = {**os.environ, "MPBERT_PYTHON": sys.executable, "PYTHONPATH": str(folder)}
    start, times = time.perf_counter(), []
    with subprocess.Popen(
        ["bash", script], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        for line in process.stderr:
            if line.startswith("== "):
                times.append(time.perf_counter() - start)
            last = line
    if process.returncode:
        raise SystemExit(f"{script}: exit code {process.returncode}: {last}")
    return [*times, time.perf_counter() - start]


def main(script: str = "eval/quickstart.sh") -> None:
    """Print the rows of the first recommendation and of the whole."""
    with tempfile.TemporaryDirectory() as parent:
        folder = shutil.copytree(".", Path(parent) / "copy", ignore=LEFT_OUT, symlinks=True)
        times = seconds_of_steps(script, folder)
    print("steps began at " + ", ".join(f"{each:.0f}" for each in times[:-1]) + " s")
    for what, goal, seconds in (
        ("quickstart, first recommendation", "<= 180 s", times[1]),
        ("quickstart, whole", "<= 720 s", times[-1]),
    ):
        print_row(what, "-", goal, "-", f"{seconds:.0f} s", "-", "-")


if __name__ == "__main__":
    main(*sys.argv[1:])
