"""Exact search beside a plain matrix product and a partial sort, as a ratio.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_retrieve.py [papers] [queries] [dim]``.
The plain way has neither a tie rule nor results that are free of threads and block sizes.
"""

import sys
import time

import numpy as np

from mpbert.retrieval.dense import DenseIndex
from mpbert.vectors.normal import normalized


def plain(papers: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
    rows = np.empty((len(queries), k), dtype=np.int64)
    for start in range(0, len(queries), 256):
        scores = queries[start : start + 256] @ papers.T
        best = np.argpartition(-scores, k, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        rows[start : start + 256] = np.take_along_axis(best, order, axis=1)
    return rows


def main(num_papers: int = 20_000, num_queries: int = 2_000, dim: int = 256) -> None:
    rng = np.random.default_rng(1)
    papers = rng.standard_normal((num_papers, dim)).astype(np.float32)
    queries = rng.standard_normal((num_queries, dim)).astype(np.float32)
    index, unit_papers = DenseIndex(papers), normalized(papers)
    excluded = np.full(num_queries, -1)
    start = time.perf_counter()
    found, _ = index.search(queries, 100, excluded)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    expected = plain(unit_papers, normalized(queries), 100)
    theirs = time.perf_counter() - start
    same = (found == expected).mean()
    print(f"exact search  {num_queries / ours:10,.0f} queries/s")
    print(f"plain numpy   {num_queries / theirs:10,.0f} queries/s")
    print(f"ratio {theirs / ours:.2f}, {same:.4%} of the places alike")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
