"""Newer libraries beside ours: search by words, and vectors of texts.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_opponents.py``; ``TASKS="words bags"``
names some, ``THREADS=2`` gives two threads to those that use them. Each turn is a process of
its own, which reads the data, makes an index and asks it, both once before on a part of the texts;
seconds are those of the processor, with more threads those of the clock. Memory is the most that
the process held while it made and asked; rates are medians of TURNS (3).

words   abstracts of runs/corpus/acl, contexts of its test split ask for the first 10. bm25s and
        bm25q leave out stop words unless the row says "all words", and run by numba
made    as many made abstracts as PAPERS, 30,000, and 30 words of some that follow one another
bags    vectors by a token bag (BAG) that ``mpbert distil`` made of MiniLM on this corpus, and by a
        table (STATIC) that model2vec made of it: ``distill(MINILM, pca_dims=256)``
vectors those of VECTORS, of papers and of contexts; recall is of the ten nearest
late    states of tokens by MiniLM, of 300 abstracts and those that 100 contexts cite; all papers
        are scored. fast-plaid wants another torch than ours: give both a Python of their own
onnx    vectors by the encoder of incite-app. Its class makes the batches; the session of ONNX is
        given to it, since its own loader, of optimum, fails beside transformers 5
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from contest import forget_peak, peak_mib, print_row
from late_opponents import TASKS
from opponents import THREADS, Data

TURNS, FEW = int(os.environ.get("TURNS", "3")), 200
MODULES = {"incite-app": "incite", "fast-plaid": "fast_plaid"}


def turn(task: str, number: int, folder: Path) -> None:
    """Print texts and queries a second, the most MiB, recall, and the rows that were found."""
    read, ours, peers = TASKS[task]
    data, make = read(folder), [ours, *(peer[-1] for peer in peers)][number]
    make(Data(data.texts[:FEW], []))(data.queries[:10])
    clock = time.process_time if THREADS == 1 else time.perf_counter
    forget_peak()
    start = clock()
    ask = make(data)
    ready = clock()
    found = ask(data.queries)
    rates = len(data.texts) / (ready - start), len(data.queries) / (clock() - ready)
    recall = None
    if data.cited:
        pairs = zip(found.tolist(), data.cited, strict=True)
        recall = statistics.mean(len(own.intersection(rows)) / len(own) for rows, own in pairs)
    print(json.dumps([*rates, peak_mib(), recall, found.tolist()]))


def compare(task: str, folder: Path) -> None:
    """Print the row of each peer."""
    peers = TASKS[task][-1]
    there = {i for i, (name, *_) in enumerate(peers, 1) if find_spec(MODULES.get(name, name))}
    runs: dict[int, list[Any]] = {number: [] for number in sorted({0, *there})}
    for number in [*runs] * TURNS:
        command = [sys.executable, __file__, task, str(number), str(folder)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        runs[number].append(json.loads(done.stdout.splitlines()[-1]))
    best = np.array(runs[0][0][-1])
    shown, rates = {}, {}
    for number, own in runs.items():
        rates[number] = [statistics.median(one[kind] for one in own) for kind in range(3)]
        *_, recall, found = own[0]
        if recall is None:  # of what ours finds, whose scores are exact
            recall = (np.array(found)[:, :, None] == best[:, None]).any(2).mean()
        texts, queries, _ = rates[number]
        shown[number] = f"{texts:,.0f} texts/s, {queries:,.0f} queries/s, recall {recall:.4f}"
    for number, (name, says, _) in enumerate(peers, 1):
        if number not in runs:
            print(f"{name} is not installed", file=sys.stderr)
            continue
        made, asked, _ = (a / b for a, b in zip(rates[0], rates[number], strict=True))
        print_row(
            f"{task}, threads {THREADS}",
            f"{name} {version(name)}{says}",
            ">= 1",
            f"made {made:.2f}, asked {asked:.2f}",
            *(shown[0], shown[number]),
            " / ".join(f"{rates[each][-1]:,.0f}" for each in (0, number)),
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for task in os.environ.get("TASKS", " ".join(TASKS)).split():
            TASKS[task][0](Path(folder))  # writes what each turn reads
            compare(task, Path(folder))


if __name__ == "__main__":
    if sys.argv[1:]:
        turn(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
    else:
        main()
