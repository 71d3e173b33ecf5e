"""Exact search of memory-mapped vectors beside faiss IndexFlatIP, as a ratio.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_retrieve.py [papers] [queries] [dim]``.
The time is that of searching. faiss holds an index of normalised copies, made before; its results
depend on threads and block sizes in their last digits and have no tie rule. Ours includes reading
and normalising the matrix, once a search, which many queries make up for. Processor seconds are
printed, too: they depend less on other work on the machine.
"""

import sys
import tempfile
from pathlib import Path

import faiss
import numpy as np
from contest import contest, print_computed, print_contest

from mpbert.retrieval.dense import DenseIndex
from mpbert.vectors.normal import normalized

CUTOFF, BLOCK = 10, 1 << 16


def write_vectors(path: Path, num_papers: int, dim: int) -> np.ndarray:
    """Return a mapped (N, D) matrix of random vectors."""
    rng = np.random.default_rng(1)
    papers = np.lib.format.open_memmap(path, "w+", dtype=np.float32, shape=(num_papers, dim))
    for start in range(0, num_papers, BLOCK):
        block = papers[start : start + BLOCK]
        block[:] = rng.standard_normal(block.shape, dtype=np.float32)
    papers.flush()
    return np.load(path, mmap_mode="r")


def main(num_papers: int = 1_000_000, num_queries: int = 10_000, dim: int = 256) -> None:
    queries = np.random.default_rng(2).standard_normal((num_queries, dim), dtype=np.float32)
    nobody = np.full(num_queries, -1)
    with tempfile.TemporaryDirectory() as directory:
        papers = write_vectors(Path(directory) / "papers.npy", num_papers, dim)
        ours = DenseIndex(papers)

        def search() -> np.ndarray:
            return ours.search(queries, CUTOFF, nobody)[0]

        alone = contest({"ours": search}, rounds=1, warm_up=False)["ours"]  # before faiss is there
        theirs = faiss.IndexFlatIP(dim)
        for start in range(0, num_papers, BLOCK):
            theirs.add(normalized(papers[start : start + BLOCK]))
        costs = contest(
            {"ours": search, "faiss": lambda: theirs.search(normalized(queries), CUTOFF)[1]},
            rounds=3,
        )
    same = (costs["ours"].result == costs["faiss"].result).mean()
    print(f"{num_queries / costs['ours'].seconds:,.0f} queries/s, {same:.4%} of the places alike")
    print(f"peak before faiss holds its copy: {alone.peak_mib:,.0f} MiB, all mapped pages included")
    print_computed(costs["ours"], costs["faiss"])
    what = f"top {CUTOFF} of {num_queries:,} queries in {num_papers:,} vectors of {dim}"
    print_contest(what, "faiss IndexFlatIP", ">= 1", costs["ours"], costs["faiss"])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
