"""Search of a part of 1 million vectors beside exact search, ours and FAISS's.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_approximate.py [vectors] [papers]``. The
vectors are those of the ACL's papers, made by a trained encoder, each repeated
with noise half as long as the way to the nearest paper; the queries are contexts of the test split.
Random vectors would not do: they have no neighbourhoods. Choosing how many lists are read is in the
time of a search; making the lists has a row of its own. One thread: OMP_NUM_THREADS=1.
"""

import os
import sys
from pathlib import Path

import faiss
import numpy as np
from contest import contest, print_computed, print_contest, print_row

from mpbert.retrieval.approximate import ApproximateIndex
from mpbert.retrieval.dense import DenseIndex
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore

QUERIES, CUTOFF, BLOCK = 10_000, 10, 1 << 14
VECTORS = os.environ.get("VECTORS", "runs/vectors/acl/mp_bert4cr_own_triplet")


def main(directory: str = VECTORS, num_papers: str = "1000000") -> None:
    papers = repeated(VectorStore.load(Path(directory), "papers").vectors, int(num_papers))
    queries = np.array(VectorStore.load(Path(directory), "contexts.test").vectors[:QUERIES])
    unit, nobody = normalized(queries), np.array([-1])
    ours, exact = ApproximateIndex(papers), DenseIndex(papers)
    made = contest({"made": lambda: ours._learnt}, rounds=1, warm_up=False)["made"]
    costs = contest(
        {
            "ours": lambda: ours.search(queries, CUTOFF, nobody)[0],
            "exact": lambda: exact.search(queries, CUTOFF, nobody)[0],
            "faiss": lambda: faiss.knn(unit, papers, CUTOFF, faiss.METRIC_INNER_PRODUCT)[1],
        },
        rounds=3,
    )
    found = costs["ours"].result[:, :, None] == costs["exact"].result[:, None]
    recall = found.any(axis=2).mean()
    print_computed(costs["ours"], costs["exact"])
    what = f"approximate top {CUTOFF} of {len(queries):,} in {len(papers):,}, recall {recall:.4f}"
    print_contest(what, "exact search", ">= 10, recall >= 0.98", costs["ours"], costs["exact"])
    print_contest(what, "faiss, as IndexFlatIP", "-", costs["ours"], costs["faiss"])
    saved = (costs["exact"].computed - costs["ours"].computed) / len(queries)
    pays = f"pays from {made.computed / saved:,.0f} queries on" if saved > 0 else "never pays"
    held = faiss.serialize_index(made.result.index).nbytes / 2**20
    print_row(
        f"making the lists of {len(papers):,}, which hold {held:,.0f} MiB",
        *("-", "-", pays, f"{made.seconds:,.0f} s; {made.computed:,.0f} s of CPU", "-"),
        f"{made.peak_mib:,.0f}",
    )


def repeated(vectors: np.ndarray, num_papers: int) -> np.ndarray:
    """Return that many vectors of length 1: these again and again, each time with other noise."""
    unit = normalized(vectors)
    nearest = faiss.knn(unit[:1000], unit, 2, faiss.METRIC_INNER_PRODUCT)[0][:, 1]
    length = np.median(np.sqrt(np.maximum(2 - 2 * nearest, 0))) / 2
    rng = np.random.default_rng(1)
    made = np.empty((num_papers, unit.shape[1]), dtype=np.float32)
    for start in range(0, num_papers, BLOCK):
        block = made[start : start + BLOCK]
        noise = rng.standard_normal(block.shape, dtype=np.float32)
        noise *= np.float32(length / np.sqrt(unit.shape[1]))
        block[:] = normalized(unit[(start + np.arange(len(block))) % len(unit)] + noise)
    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
