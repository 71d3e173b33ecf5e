"""A server whose papers are proposed by lists on disk, beside one that reads all vectors.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_stored.py [papers] [seconds] [folder]
[workers]``; 100,000, 10, none and 1 by default. Papers are 20,000 abstracts of ACL, which ``index``
reads with the token bag BAG of ``bench_opponents.py``, and copies as ``enlarging.py`` makes them.
They stay in the folder, if there is one. Test contexts of ACL ask over 16 connections. Recall is of
the ten papers that all vectors give. Milliseconds are of the processor; memory is that of the
largest process.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bench_throughput
import numpy as np
from bench_serve import processor_seconds
from contest import print_row, run_command
from enlarging import enlarge
from opponents import abstracts

from mpbert.recommending.recommender import Recommender

PAPERS, QUESTIONS, RANKERS = 20_000, 500, ("dense", "both")
bench_throughput.CONNECTIONS = 16


def write_papers(path: Path, texts: Sequence[str]) -> None:
    """Write papers, as arXiv's metadata."""
    with path.open("w", encoding="utf-8") as file:
        for paper, text in enumerate(texts):
            record = {
                "id": f"{paper:09d}",
                "title": f"{' '.join(text.split()[:12])} {paper}",
                "authors_parsed": [[f"A{paper}", "B"]],
                "categories": "cs.CL",
                "abstract": text,
                "update_date": f"{1990 + paper % 31}-01-01",
            }
            file.write(json.dumps(record) + "\n")


@contextmanager
def server(index: Path, store: str, workers: str) -> Iterator[tuple[int, int]]:
    """Start one; give its process and port."""
    words = [sys.executable, "-m", "mpbert", "serve", str(index), "--workers", workers]
    words += ["--port", "0", "--max-seconds", "300", *(["--store", store] if store else [])]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        yield process.pid, int(re.search(r":(\d+)/", process.stdout.readline())[1])
    finally:
        process.terminate()
        process.wait(60)


def held_mib(pid: int) -> tuple[int, int]:
    """Return what the largest of a process and its children holds, and what it maps."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    each = [Path(f"/proc/{number}/status").read_text() for number in (pid, *children)]
    found = [re.findall(r"Rss(?:Anon|File):\s+(\d+)", told) for told in each]
    return max((int(anon) // 1024, int(file) // 1024) for anon, file in found)


def measured(index: Path, store: str, texts: list[str], seconds: float, workers: str) -> Iterator:
    """Yield milliseconds an answer and what else is told of a server, by each ranker."""
    with server(index, store, workers) as (pid, port):
        for ranker in RANKERS:
            requests = [bench_throughput.request(text, ranker) for text in texts]
            asyncio.run(bench_throughput.load(port, requests, 2, None))  # all processes have begun
            before, began = processor_seconds(pid), time.perf_counter()
            times = asyncio.run(bench_throughput.load(port, requests, seconds, None))
            rate = len(times) / (time.perf_counter() - began)
            computed = 1000 * (processor_seconds(pid) - before) / len(times)
            p50, p99 = np.percentile(times, [50, 99])
            told = f"{computed:.1f} ms, {rate:.0f} answers/s, p50 {p50:.0f} ms, p99 {p99:.0f} ms"
            yield computed, told, "{:,} held + {:,} mapped".format(*held_mib(pid))


def main(
    papers: str = "100000", seconds: str = "10", folder: str | None = None, workers: str = "1"
) -> None:
    """Print a row for each ranker."""
    data = abstracts(num_queries=QUESTIONS)
    with tempfile.TemporaryDirectory() as made:
        place = Path(folder or made)
        index, small, store = place / "index", place / "small", f"lists:{place}/lists"
        if not index.exists():
            write_papers(place / "papers.json", data.texts[:PAPERS])
            run_command("index", place / "papers.json", small, "--encoder", os.environ["BAG"])
            enlarge(small, int(papers) // PAPERS, index)
        start = time.process_time()
        each = [Recommender(index, url) for url in (store, "")]
        print(f"lists open after {time.process_time() - start:.0f} s of the processor", flush=True)
        recalls = [recall(each, data.queries, ranker) for ranker in RANKERS]
        del each
        asked = data.queries, float(seconds), workers
        both = (measured(index, url, *asked) for url in (store, ""))
        ours, theirs = map(list, both)
    for ranker, found, own, other in zip(RANKERS, recalls, ours, theirs, strict=True):
        what = f"serve --store lists, {int(papers):,} papers, 16 connections, {ranker}"
        what += f", processes: {workers}"
        print_row(
            f"{what}, recall {found:.4f}",
            *("serve without a store", "recall >= 0.98", other[0] / own[0]),
            *(own[1], other[1], f"{own[2]} / {other[2]}"),
        )


def recall(each: list[Recommender], texts: list[str], ranker: str) -> float:
    """Return the share of the first ten papers of the second that the first finds, too."""
    asked = {"top": 10, "ranker": ranker}
    found = [[{p.paper_id for p in one.recommend(t, **asked)} for t in texts] for one in each]
    return float(np.mean([len(own & best) / len(best) for own, best in zip(*found, strict=True)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
