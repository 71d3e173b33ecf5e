"""Data and contestants of bench_opponents.py that search vectors."""

from pathlib import Path

import numpy as np
from bench_approximate import VECTORS
from bench_neighbours import usearch as usearch_graph
from opponents import FIRST, QUERIES, THREADS, Ask, Data
from opponents import TASKS as OF_TEXTS

from mpbert.retrieval.dense import DenseIndex
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore

EFFORT = 512  # of a graph, which then finds nearly all that exact search does


def vectors() -> Data:
    """Return vectors of papers, of contexts, and the nearest papers of these."""
    stores = (VectorStore.load(Path(VECTORS), name) for name in ("papers", "contexts.test"))
    papers, queries = (normalized(store.vectors) for store in stores)
    queries = queries[np.linspace(0, len(queries) - 1, QUERIES).astype(int)]
    return Data(papers, queries, [set(rows) for rows in exact(Data(papers, []))(queries).tolist()])


def exact(data: Data, kind: type[DenseIndex] = DenseIndex) -> Ask:
    index, nobody = kind(data.texts), np.array([-1])
    return lambda queries: index.search(queries, FIRST, nobody)[0]


def approximate(data: Data) -> Ask:
    from mpbert.retrieval.approximate import ApproximateIndex

    return exact(data, ApproximateIndex)


def usearch(data: Data) -> Ask:
    search = usearch_graph(data.texts)[2]
    return lambda queries: search(queries, EFFORT)


def usearch_exact(data: Data) -> Ask:
    from usearch.index import search

    def ask(queries: np.ndarray) -> np.ndarray:
        found = search(data.texts, queries, FIRST, "ip", exact=True, threads=THREADS)
        return found.keys.astype(np.int64)

    return ask


TASKS = OF_TEXTS | {
    "vectors": (
        lambda _: vectors(),
        exact,
        [
            ("usearch", ", exact", usearch_exact),
            ("usearch", f", graph, effort {EFFORT}", usearch),
            ("mpbert", ", --approximate", approximate),
        ],
    ),
}
