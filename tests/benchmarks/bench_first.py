"""Seconds from a library to the first recommendation, without training: the quickstart's beginning.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_first.py``. It reads 593 RFCs, makes an
index by words and asks it, each by a command of its own, and tells what reading them costs alone.
"""

import tempfile
import time
from collections import Counter
from pathlib import Path

from contest import ended_cpu_seconds, print_row, run_command

from mpbert.foundation.engines import OwnProcesses
from mpbert.recommending.library import read_library

LIBRARY, TEXT = Path("datasets/rfc/rfc-593.tar.xz"), Path("datasets/rfc/example.txt")


def main() -> None:
    """Print the row: seconds of the clock, and of the processor, to the first recommendation."""
    with tempfile.TemporaryDirectory() as folder:
        index, before = Path(folder) / "index", ended_cpu_seconds()
        seconds, peak = run_command("index", LIBRARY, index, "--reader", "rfc")
        asked, _ = run_command("recommend", index, TEXT, "--top", "5")
        computed = ended_cpu_seconds() - before
    start = time.process_time()
    papers = read_library(LIBRARY, "rfc", OwnProcesses(), Counter())
    alone = time.process_time() - start
    print_row(
        f"first recommendation from {len(papers)} papers, without training",
        "reading the papers, one core",
        "<= 180 s",
        alone / computed,
        f"{seconds + asked:.0f} s; {computed:.1f} s of CPU",
        f"{alone:.1f} s of CPU",
        f"{peak:,.0f}",
    )


if __name__ == "__main__":
    main()
