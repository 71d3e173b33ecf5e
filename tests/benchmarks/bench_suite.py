"""The whole test suite, in a fresh clone, and its twenty slowest tests.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_suite.py``; it takes eight minutes.
Tests of servers that are not installed are skipped.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

from contest import print_row


def main() -> None:
    """Print the row, after the slowest tests."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["MPBERT_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", ".", folder], check=True)
        start = time.perf_counter()
        found = subprocess.run(
            ["bash", "tests/run.sh", "--quiet", "--durations=20"],
            cwd=folder, env=environment, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        seconds = time.perf_counter() - start
    lines = found.stdout.splitlines()
    if found.returncode:
        raise SystemExit("\n".join(line for line in lines if line.startswith(("FAILED", "ERROR"))))
    print("\n".join(line for line in lines if re.match(r"[\d.]+s (call|setup|teardown) ", line)))
    counts = re.match(r"(\d+) passed, (\d+) skipped", lines[-1])
    what = f"test suite, {int(counts[1]):,} passed, {counts[2]} skipped, {os.cpu_count()} cores"
    print_row(what, "-", "<= 480 s", "-", f"{seconds:.0f} s", "-", "-")


if __name__ == "__main__":
    main()
