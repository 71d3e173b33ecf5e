"""Kept libraries of approximate search on the same vectors: what each costs at the same recall.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_neighbours.py [vectors] [papers]
[library...]``; the vectors are those of bench_approximate.py, 100,000 of them: graphs take long to
make. ``lists`` of codes with candidates scored in bfloat16, as ours; HNSW of FAISS, ``graph``, and
of ``usearch`` (where it is installed), both in 16 bits. Each searches with the least effort of a
row of efforts with which it finds 98 % of the ten nearest. Times are processor seconds of one
thread, beside a product with all papers.
"""

import math
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import faiss
import numpy as np
from bench_approximate import CUTOFF, VECTORS, repeated
from contest import print_row

from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore

QUERIES, GOAL = 1000, 0.98
EFFORTS = (1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512)
CANDIDATES, NEIGHBOURS, WIDTH = 20, 16, 128  # of lists, for each wanted; of graphs
Search = Callable[[np.ndarray, int], np.ndarray]


def lists(papers: np.ndarray) -> tuple[str, float, Search, float]:
    """Return name, MiB held, search with an effort, and the seconds of making."""
    num_lists, dim = int(4 * math.sqrt(len(papers))), papers.shape[1]
    start = time.process_time()
    index = faiss.index_factory(
        dim, f"IVF{num_lists},PQ{dim}x4fs,Refine(SQbf16)", faiss.METRIC_INNER_PRODUCT
    )
    index.k_factor, read = CANDIDATES, faiss.downcast_index(index.base_index)
    index.train(papers)
    index.add(papers)

    def search(queries: np.ndarray, effort: int) -> np.ndarray:
        read.nprobe = effort
        return index.search(queries, CUTOFF)[1]

    return "FAISS, lists of codes", mib_of(index), search, time.process_time() - start


def graph(papers: np.ndarray) -> tuple[str, float, Search, float]:
    """Return the same of HNSW of FAISS."""
    start = time.process_time()
    index = faiss.index_factory(
        papers.shape[1], f"HNSW{NEIGHBOURS}_SQfp16", faiss.METRIC_INNER_PRODUCT
    )
    index.hnsw.efConstruction = WIDTH
    index.train(papers)
    index.add(papers)

    def search(queries: np.ndarray, effort: int) -> np.ndarray:
        index.hnsw.efSearch = effort
        return index.search(queries, CUTOFF)[1]

    return "FAISS, HNSW, 16 bits", mib_of(index), search, time.process_time() - start


def usearch(papers: np.ndarray) -> tuple[str, float, Search, float]:
    """Return the same of usearch."""
    from usearch.index import Index

    start = time.process_time()
    index = Index(
        ndim=papers.shape[1], metric="ip", dtype="f16", connectivity=NEIGHBOURS,
        expansion_add=WIDTH,
    )  # fmt: skip
    index.add(np.arange(len(papers)), papers, threads=1)

    def search(queries: np.ndarray, effort: int) -> np.ndarray:
        index.expansion_search = effort
        return index.search(queries, CUTOFF, threads=1).keys.astype(np.int64)

    return "usearch, HNSW, 16 bits", index.memory_usage / 2**20, search, time.process_time() - start


def mib_of(index: faiss.Index) -> float:
    """Return what an index of FAISS holds."""
    return faiss.serialize_index(index).nbytes / 2**20


def seconds(action: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    """Return what it returns, and processor seconds."""
    start = time.process_time()
    return action(), time.process_time() - start


LIBRARIES = {each.__name__: each for each in (lists, graph, usearch)}


def main(directory: str = VECTORS, num_papers: str = "100000", *names: str) -> None:
    """Print a row for each library."""
    faiss.omp_set_num_threads(1)
    papers = repeated(VectorStore.load(Path(directory), "papers").vectors, int(num_papers))
    queries = normalized(VectorStore.load(Path(directory), "contexts.test").vectors[:QUERIES])
    metric = faiss.METRIC_INNER_PRODUCT
    (_, exact), all_of_them = seconds(lambda: faiss.knn(queries, papers, CUTOFF, metric))
    if find_spec("usearch") is None:
        del LIBRARIES["usearch"]
    for library in names or LIBRARIES:
        name, held, search, made = LIBRARIES[library](papers)
        for effort in EFFORTS:
            found, spent = seconds(lambda effort=effort, search=search: search(queries, effort))
            recall = (found[:, :, None] == exact[:, None]).any(axis=2).mean()
            if recall >= GOAL:
                break
        each = spent / len(queries) * 1e3
        print_row(
            f"{name}, effort {effort}, top {CUTOFF} in {len(papers):,} x {papers.shape[1]}",
            *("faiss, as IndexFlatIP", f"recall >= {GOAL}", all_of_them / spent),
            f"recall {recall:.4f}, {each:.3f} ms a query; made in {made:.0f} s",
            f"{all_of_them / len(queries) * 1e3:.3f} ms a query",
            f"{held:,.0f} / {papers.nbytes / 2**20:,.0f}",
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
