"""Search of a part of 1 million vectors beside exact search, which is ours too.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_approximate.py [runs/binarized/acl]
[vectors]``. The vectors have 256 dimensions, by latent semantic analysis of sentences of ACL
papers, fitted on every 40th; queries are 10,000 other sentences. Random vectors would not do:
they have no neighbourhoods. Choosing how many lists are read is in the time; making the lists
is printed apart, by its processor seconds, its memory, and the number of queries from which it
pays.
"""

import sys
import time
from pathlib import Path

import faiss
import numpy as np
from contest import contest, print_computed, print_contest
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

from mpbert.corpus.binary import BinaryCorpus
from mpbert.retrieval.approximate import ApproximateIndex
from mpbert.retrieval.dense import DenseIndex

QUERIES, DIM, CUTOFF = 10_000, 256, 10


def main(binary: str = "runs/binarized/acl", num_vectors: str = "1000000") -> None:
    size = int(num_vectors)
    vectors = _vectors(BinaryCorpus(Path(binary)), size + QUERIES)
    chosen = np.zeros(len(vectors), dtype=bool)
    chosen[np.linspace(0, len(vectors) - 1, QUERIES).astype(int)] = True
    papers, queries = vectors[~chosen], vectors[chosen]
    ours, start = ApproximateIndex(papers), time.process_time()
    index, _ = ours._learnt
    building = time.process_time() - start
    held = faiss.serialize_index(index).nbytes / 2**20
    print(f"lists made in {building:.0f} s of one core; they hold {held:,.0f} MiB")
    exact, nobody = DenseIndex(papers), np.array([-1])
    costs = contest(
        {
            "ours": lambda: ours.search(queries, CUTOFF, nobody)[0],
            "exact": lambda: exact.search(queries, CUTOFF, nobody)[0],
        },
        rounds=3,
    )
    found = costs["ours"].result[:, :, None] == costs["exact"].result[:, None]
    recall = found.any(axis=2).mean()
    print_computed(costs["ours"], costs["exact"])
    saved = (costs["exact"].computed - costs["ours"].computed) / QUERIES
    pays = f"from {building / saved:,.0f} queries on" if saved > 0 else "never"
    print(f"making the lists pays {pays}")
    what = f"approximate top {CUTOFF} of {QUERIES:,} in {len(papers):,}, recall {recall:.4f}"
    print_contest(what, "exact search", ">= 10, recall >= 0.98", costs["ours"], costs["exact"])


def _vectors(corpus: BinaryCorpus, size: int) -> np.ndarray:
    """Return vectors of sentences, without those of fewer than 8 tokens and without repetitions."""
    lengths = np.diff(corpus.token_offsets)
    rows = np.flatnonzero(lengths >= 8)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), size * 11 // 10)).astype(int)]
    tokens, lengths = corpus.gather(rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    shape = (len(rows), corpus.vocab_size)
    counts = csr_matrix((np.ones(len(tokens), np.float32), tokens, offsets), shape)
    counts.sum_duplicates()
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    lsa = TruncatedSVD(DIM, n_iter=3, random_state=1).fit(weighted[::40])
    vectors = lsa.transform(weighted).astype(np.float32)
    _, first = np.unique(vectors, axis=0, return_index=True)
    return vectors[np.sort(first)[:size]]


if __name__ == "__main__":
    main(*sys.argv[1:])
