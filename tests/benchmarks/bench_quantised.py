"""Short codes of vectors, whose first candidates are scored anew, beside exact search.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_quantised.py [folder...]``.
Of a vectors directory the papers are searched with the contexts of the test split; of stored
sentences every fiftieth asks the others. Codes are those of FAISS: 8 and 4 bits a dimension
(``IndexScalarQuantizer``), and one, the sign beside the mean (``IndexBinaryFlat``). Candidates are
scored from the float32 vectors, which stay mapped. Times are processor seconds of one thread.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np
from contest import print_row

from mpbert.retrieval.dense import DenseIndex, parts_of
from mpbert.retrieval.ranking import sort_by_score
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore

CUTOFF, RESCORED = 10, (10, 20, 50, 100, 200, 500, 1000, 2000)
GOAL, QUERIES, BLOCK = 0.99, 500, 64
Search = Callable[[np.ndarray, int], np.ndarray]


def main(*folders: str) -> None:
    found = folders or (
        *("runs/vectors/rfc/token_bag_matches", "runs/vectors/acl/token_bag_matches"),
        *("runs/sentences/rfc/all-MiniLM-L6-v2", "runs/sentences/acl/all-MiniLM-L6-v2"),
    )
    faiss.omp_set_num_threads(1)
    for folder in map(Path, found):
        if folder.exists():
            compare(folder, *vectors_of(folder))


def vectors_of(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return (N, D) vectors of length 1, and those that ask them."""
    if (folder / "papers.npy").exists():
        papers, queries = (VectorStore.load(folder, n).vectors for n in ("papers", "contexts.test"))
    else:
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        asks = np.arange(len(vectors)) % 50 == 0
        papers, queries = vectors[~asks], vectors[asks]
    return normalized(papers.astype(np.float32)), normalized(queries[:QUERIES].astype(np.float32))


def compare(folder: Path, papers: np.ndarray, queries: np.ndarray) -> None:
    """Print a row for each code: with how many candidates the goal is reached."""
    size, dim = papers.shape
    dense = DenseIndex(papers)
    start = time.process_time()
    exact, _ = dense.search(queries, CUTOFF, np.array([-1]))
    seconds = time.process_time() - start
    for name, bits, search in codes_of(papers):
        found = search(queries, min(RESCORED[-1], size))
        for depth in RESCORED:
            rows = rescored(papers, queries, found[:, :depth])
            recall = (rows[:, :, None] == exact[:, None]).any(2).mean()
            if recall >= GOAL:
                break
        start = time.process_time()
        rescored(papers, queries, search(queries, min(depth, size)))
        ours = time.process_time() - start
        print_row(
            f"{name}, {size:,} x {dim} ({folder.parent.name}/{folder.name}), {depth} rescored",
            *("exact search", f"recall of {CUTOFF} >= {GOAL}", seconds / ours),
            f"recall {recall:.4f}, {ours / len(queries) * 1e3:.2f} ms a query",
            f"{seconds / len(queries) * 1e3:.2f} ms a query",
            f"{dim * bits // 8:,} / {dim * 4:,} B a vector",
        )


def codes_of(papers: np.ndarray) -> list[tuple[str, int, Search]]:
    """Return name, bits a dimension, and the search of each code."""
    dim = papers.shape[1]
    found: list[tuple[str, int, Search]] = []
    kinds = faiss.ScalarQuantizer
    for name, bits, kind in (("int8", 8, kinds.QT_8bit), ("4 bits", 4, kinds.QT_4bit)):
        index = faiss.IndexScalarQuantizer(dim, kind, faiss.METRIC_INNER_PRODUCT)
        index.train(papers)
        index.add(papers)
        found.append((name, bits, lambda asked, depth, index=index: index.search(asked, depth)[1]))
    mean, signs = papers.mean(axis=0), faiss.IndexBinaryFlat(dim)
    signs.add(np.packbits(papers > mean, axis=1))
    found.append(("binary", 1, lambda asked, k: signs.search(np.packbits(asked > mean, 1), k)[1]))
    return found


def rescored(papers: np.ndarray, queries: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return the first rows by exact scores."""
    best = []
    for block in parts_of(len(queries), BLOCK):
        rows = np.sort(found[block], axis=1)
        scores = np.einsum("qd,qkd->qk", queries[block], papers[rows], dtype=np.float64)
        best.append(sort_by_score(rows, scores)[0][:, :CUTOFF])
    return np.concatenate(best)


if __name__ == "__main__":
    main(*sys.argv[1:])
