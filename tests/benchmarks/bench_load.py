"""A server under load: many connections at once, slow and silent ones beside them, then a stop.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_load.py [INDEX] [seconds]
[connections]``; the default is the index that the variable INDEX names, or runs/index/rfc.
The questions are citing sentences of the index. While they are asked, 100 connections say nothing,
20 stop in the midst of a head and 20 in the midst of a body. At the end the server is told to stop
while all connections have a question under way: each of these must be answered.
"""

import collections
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2
import numpy as np
from contest import INDEX, print_row

from mpbert.recommending.directory import read_index

HEAD = b"POST /api/recommend HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SILENT = [b""] * 100 + [HEAD] * 20 + [HEAD + b"Content-Length: 100\r\n\r\n{"] * 20


def resident_mib(pid: int) -> float:
    """Return the memory that a process uses, in MiB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024


def hold_silent(port: int, stopped: threading.Event) -> None:
    """Keep silent and slow connections open; those that the server closes are made again."""
    while not stopped.is_set():
        connections = []
        for begin in SILENT:
            connection = socket.create_connection(("127.0.0.1", port), timeout=10)
            connection.sendall(begin)
            connections.append(connection)
        stopped.wait(15)  # the server closes them after 10 s
        for connection in connections:
            connection.close()


def main(index: Path = Path(INDEX), seconds: float = 120, connections: int = 64) -> None:
    texts = read_index(index).tables.contexts["text"]
    rows = np.random.default_rng(1).integers(0, len(texts), 1000)
    questions = [{"text": texts[row]} for row in rows.tolist()]
    command = [sys.executable, "-m", "mpbert", "serve", str(index), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    address = re.search(r"http://\S+/", process.stdout.readline())[0]
    ends: collections.Counter[str] = collections.Counter()
    times: list[float] = []
    stopped, stopping = threading.Event(), threading.Event()

    def ask(number: int) -> None:
        with httpx2.Client(base_url=address, timeout=60) as client:
            for turn in range(number, 10**9, connections):
                is_last = stopping.is_set()
                start = time.perf_counter()
                try:
                    answer = client.post("/api/recommend", json=questions[turn % len(questions)])
                    ends[str(answer.status_code)] += 1
                except httpx2.ConnectError:
                    ends["not connected, after the stop" if is_last else "not connected"] += 1
                    return
                except httpx2.HTTPError as error:
                    ends[f"lost ({type(error).__name__})"] += 1
                times.append(1000 * (time.perf_counter() - start))
                if is_last or stopping.is_set():
                    return

    try:
        client = httpx2.Client(base_url=address, timeout=60)
        client.post("/api/recommend", json=questions[0]).raise_for_status()
        silent = threading.Thread(
            target=hold_silent, args=(int(address.rsplit(":", 1)[1].strip("/")), stopped)
        )
        silent.start()
        threads = [threading.Thread(target=ask, args=(n,)) for n in range(connections)]
        for thread in threads:
            thread.start()
        time.sleep(min(10, seconds / 4))
        before = resident_mib(process.pid)
        time.sleep(seconds - min(10, seconds / 4))
        after = resident_mib(process.pid)
        stopped.set()
        stopping.set()
        process.send_signal(signal.SIGTERM)
        for thread in [*threads, silent]:
            thread.join(120)
        code = process.wait(60)
    finally:
        process.kill()
    found = np.array(times)
    print(f"{len(found):,} answers in {seconds:.0f} s on {connections} connections")
    for end, count in sorted(ends.items()):
        print(f"{end:<32} {count:>8,}")
    for share in (50, 99, 100):
        print(f"p{share:<31} {np.percentile(found, share):>8.0f} ms")
    print(
        f"{'memory after 10 s':<32} {before:>8.0f} MiB\n{'memory at the end':<32} {after:>8.0f} MiB"
    )
    print(f"{'exit code':<32} {code:>8}")
    print_row(
        f"serve: {connections} connections for {seconds:.0f} s",
        "silent and slow clients beside them",
        "no 5xx, none lost",
        "-",
        f"p50 {np.percentile(found, 50):.0f} ms, p99 {np.percentile(found, 99):.0f} ms",
        ", ".join(f"{count:,} x {end}" for end, count in sorted(ends.items())),
        f"{before:.0f} -> {after:.0f}",
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]), *map(float, sys.argv[2:3]), *map(int, sys.argv[3:4]))
