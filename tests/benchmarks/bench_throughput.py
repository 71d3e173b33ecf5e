"""Answers per second of a server that 64 connections ask at once, beside the same work in a loop.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_throughput.py [INDEX] [workers]
[seconds] [rate]``; the default is the index that the variable INDEX names, or runs/index/rfc, and a
worker for each core. The questions are citing sentences of the index; where it has none, the first
sentences of abstracts. Each connection asks again as soon as it is answered, so that 64 are always
waiting; then all together ask at the rate, 200 times a second by default, as far
as the server keeps up, and the time of an answer counts from when it was due. The loop asks the
recommender itself, in one process. Milliseconds of the processor do not depend on other work on the
machine; rates and times of the clock do.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from bench_serve import processor_seconds
from contest import INDEX, print_row

from mpbert.recommending.recommender import Recommender

CONNECTIONS, LOOP = 64, 200


def request(text: str, ranker: str = "both") -> bytes:
    """Return a question as HTTP, whose client costs as little as it can."""
    body = json.dumps({"text": text, "ranker": ranker}).encode()
    head = (
        "POST /api/recommend HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: bytes) -> int:
    """Ask one question; return the status of its answer."""
    writer.write(asked)
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    await reader.readexactly(int(length[1]))
    return int(head.split(b" ", 2)[1])


async def load(port: int, requests: list[bytes], seconds: float, rate: float | None) -> np.ndarray:
    """Ask over all connections for so many seconds; return (M,) milliseconds of answers.

    :param rate: questions per second that are due; None: as many as are answered.
    :raises SystemExit: an answer was none.
    """
    times: list[float] = []
    start = time.perf_counter()
    numbers = iter(range(10**9))

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        while (now := time.perf_counter()) < start + seconds:
            number = next(numbers)
            due = now if rate is None else start + number / rate
            await asyncio.sleep(max(due - now, 0))
            status = await answered(reader, writer, requests[number % len(requests)])
            if status != 200:
                raise SystemExit(f"found an answer of status {status}; expected 200")
            times.append(1000 * (time.perf_counter() - due))
        writer.close()

    await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    return np.array(times)


def loop_milliseconds(index: Path, texts: list[str]) -> float:
    """Return the milliseconds of the processor of an answer without a server."""
    recommender = Recommender(index)
    recommender.recommend(texts[0])
    start = time.process_time()
    for text in texts[:LOOP]:
        recommender.recommend(text)
    return 1000 * (time.process_time() - start) / min(LOOP, len(texts))


def main(
    path: str = INDEX, workers: int = os.cpu_count() or 1, seconds: float = 20, asked: float = 200
) -> None:
    """Print what an answer costs, and a row for each kind of load."""
    index = Path(path)
    recommender = Recommender(index)
    tables = recommender._data.tables
    known = tables.contexts["text"] if tables.contexts.num_rows else tables.papers["abstract"]
    rows = np.random.default_rng(1).integers(0, len(known), 1000)
    texts = [known[row] for row in rows.tolist()]
    if not tables.contexts.num_rows:
        texts = [text.partition(". ")[0] for text in texts]
    papers = len(recommender.paper_ids)
    del recommender, tables, known
    command = [sys.executable, "-m", "mpbert", "serve", str(index), "--port", "0"]
    command += ["--max-seconds", "300"]  # late answers are measured, not refused
    process = subprocess.Popen(
        [*command, "--workers", str(workers)], stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
        requests = [request(text) for text in texts]
        asyncio.run(load(port, requests, 2, None))  # all processes have begun
        for what, rate in (("one after another", None), (f"{asked:g} a second", asked)):
            before = processor_seconds(process.pid)
            began = time.perf_counter()
            times = asyncio.run(load(port, requests, seconds, rate))
            per_second = len(times) / (time.perf_counter() - began)
            computed = 1000 * (processor_seconds(process.pid) - before) / len(times)
            alone = loop_milliseconds(index, texts)
            middle, late = np.percentile(times, [50, 99])
            print(f"{what}: {computed:.2f} ms of the processor an answer, {alone:.2f} in a loop")
            print_row(
                f"serve, {papers:,} papers, {CONNECTIONS} connections, {what}, "
                f"processes: {workers}",
                "same work in one loop",
                ">= 200 answers/s, p99 <= 200 ms",
                alone / computed,
                f"{per_second:.0f} answers/s, p50 {middle:.0f} ms, p99 {late:.0f} ms; "
                f"{computed:.1f} ms of CPU",
                f"{alone:.1f} ms of CPU",
                "-",
            )
    finally:
        process.terminate()
        process.wait(60)


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]), *map(float, sys.argv[3:5]))
