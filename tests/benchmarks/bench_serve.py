"""Time of one answer of a running server, the whole way over HTTP, and answers per second.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_serve.py
[INDEX] [workers] [questions]``;
the default is the index that the variable INDEX names, or runs/index/rfc.
The questions are citing sentences of the index. Times are of the clock, so other work on the
machine counts; what the server computed for one answer is told beside them.
"""

import os
import re
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import numpy as np
from contest import INDEX, print_row

from mpbert.recommending.directory import read_index

CLIENTS = 8  # at once


def processor_seconds(pid: int) -> float:
    """Return what a process and its children have computed so far."""
    ticks = 0
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for number in (pid, *children):
        fields = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])  # in user mode, in the kernel
    return ticks / os.sysconf("SC_CLK_TCK")


def main(path: str = INDEX, workers: int = 1, num_questions: int = 200) -> None:
    index = Path(path)
    tables = read_index(index).tables
    texts = tables.contexts["text"]
    rows = np.random.default_rng(1).integers(0, len(texts), num_questions)
    questions = [{"text": texts[row]} for row in rows.tolist()]
    command = [sys.executable, "-m", "mpbert", "serve", str(index), "--port", "0"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--workers", str(workers)], stdout=subprocess.PIPE, text=True
    )
    try:
        address = re.search(r"http://\S+/", process.stdout.readline())[0]
        with httpx2.Client(base_url=address, timeout=120) as client:
            client.get("/api/index")
            ready = time.perf_counter() - start

            def ask(question: dict[str, str]) -> float:
                start = time.perf_counter()
                client.post("/api/recommend", json=question).raise_for_status()
                return 1000 * (time.perf_counter() - start)

            before = processor_seconds(process.pid)
            times = [ask(question) for question in questions]
            computed = 1000 * (processor_seconds(process.pid) - before) / num_questions
            start = time.perf_counter()
            with ThreadPoolExecutor(CLIENTS) as pool:
                list(pool.map(ask, questions))
            at_once = num_questions / (time.perf_counter() - start)
    finally:
        process.terminate()
        process.wait(60)
    last = statistics.quantiles(times, n=20)[-1]
    print(f"{len(tables.vectors):,} papers, {len(texts):,} citing sentences, {workers} workers")
    print(f"ready after     {ready:8.1f} s")
    print(f"first answer    {times[0]:8.1f} ms")
    print(f"median          {statistics.median(times):8.1f} ms")
    print(f"95 in 100 below {last:8.1f} ms")
    print(f"computing       {computed:8.1f} ms")
    print(f"{CLIENTS} at once       {at_once:8.1f} answers/s")
    print_row(
        f"serve, processes: {workers}; first answer, {len(tables.vectors):,} papers, after warm-up",
        "-",
        "<= 100 ms",
        "-",
        f"{times[0]:.0f} ms, median {statistics.median(times):.0f} ms",
        f"{CLIENTS} at once: {at_once:.0f} answers/s",
        "-",
    )


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
