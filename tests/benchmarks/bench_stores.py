"""Stores by URL beside FAISS: recall of exact search, and how long a question waits.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_stores.py [vectors] [number]``, with
the URLs of servers that run in STORES, such as ``STORES="milvus://localhost:19530
postgresql://localhost/papers"``. Papers are those of a vectors directory, and as many neighbours of
them as make up the number; contexts of the test split ask for ten, one at a time, those until a
random year. HNSW has the same settings everywhere. Times are wall times, as a server's processor
time is not ours.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import faiss
import numpy as np
from contest import print_row

from mpbert.foundation.errors import StoreUnavailableError
from mpbert.retrieval.dense import DenseIndex
from mpbert.retrieval.stores.base import Mark
from mpbert.retrieval.stores.index import StoreIndex
from mpbert.vectors.normal import normalized

CUTOFF, QUERIES, DIM, YEARS = 10, 300, 256, np.arange(1990, 2021)
NEIGHBOURS, BUILD_WIDTH, WIDTH = 16, 200, 128  # of HNSW, as the stores have them


def main(vectors: str = "runs/vectors/acl/token_bag_matches", number: str = "100000") -> None:
    rng = np.random.default_rng(1)
    held, asks = (
        normalized(np.load(Path(vectors) / f"{name}.npy", mmap_mode="r")[:, :DIM])
        for name in ("papers", "contexts.test")
    )
    papers = repeated(held, int(number), rng)
    queries = asks[np.linspace(0, len(asks) - 1, QUERIES).astype(int)]
    years, until = rng.choice(YEARS, len(papers)), rng.choice(YEARS[5:], len(queries))
    ids, nobody = [f"s{row}" for row in range(len(papers))], np.array([-1])
    exact = DenseIndex(papers)
    parts = {year: exact.within(years <= year) for year in np.unique(until).tolist()}
    answers, _ = timed(lambda q, y: parts[y].search(q, CUTOFF, nobody)[0], queries, until)
    everything = faiss.IndexFlatIP(papers.shape[1])
    everything.add(papers)
    _, flat = timed(_by_year(everything, years, faiss.SearchParameters), queries, until)
    lists = faiss.IndexHNSWFlat(papers.shape[1], NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
    lists.hnsw.efConstruction = BUILD_WIDTH
    wide = partial(faiss.SearchParametersHNSW, efSearch=WIDTH)
    start = time.perf_counter()
    lists.add(papers)
    print(f"FAISS, HNSW: made in {time.perf_counter() - start:.0f} s")
    report(
        "FAISS, HNSW", papers, answers, *timed(_by_year(lists, years, wide), queries, until), flat
    )
    for url in os.environ.get("STORES", "").split():
        start = time.perf_counter()
        stored = StoreIndex(papers, "cosine", url, Mark("benchmark" * 3, number), ids, years)
        print(f"{url.partition(':')[0]}: held after {time.perf_counter() - start:.0f} s")
        some = {year: stored.within(years <= year) for year in parts}
        found = timed(lambda q, y, some=some: some[y].search(q, CUTOFF, nobody)[0], queries, until)
        report(url.partition(":")[0], papers, answers, *found, flat)


def repeated(held: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Return so many vectors: those given, then neighbours of them.

    A neighbour is as near as the nearest other paper is to half of them, in a random direction.
    """
    some = rng.choice(len(held), 500, replace=False)
    cosines = held[some] @ held.T
    cosines[np.arange(500), some] = -1
    near = float(np.median(cosines.max(axis=1)))
    print(f"{len(held):,} papers, the nearest other at cosine {near:.2f}")
    made = held[np.arange(number) % len(held)]
    away = normalized(rng.standard_normal(made.shape).astype(np.float32))
    away[: len(held)] = 0
    return normalized(made + away * np.sqrt(1 / near**2 - 1).astype(np.float32))


def _by_year(
    index: faiss.Index, years: np.ndarray, parameters: Callable[..., faiss.SearchParameters]
) -> Callable[..., np.ndarray]:
    """Return a search of the papers until a year."""
    until = {year: faiss.IDSelectorBatch(np.flatnonzero(years <= year)) for year in YEARS.tolist()}

    def search(query: np.ndarray, year: int) -> np.ndarray:
        return index.search(query, CUTOFF, params=parameters(sel=until[year]))[1]

    return search


def timed(
    search: Callable[..., np.ndarray], queries: np.ndarray, until: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (Q, CUTOFF) rows, and (Q,) seconds of each, when all was asked once before."""
    for query, year in zip(queries[:, None], until.tolist(), strict=True):
        with contextlib.suppress(StoreUnavailableError):
            search(query, year)
    rows, seconds = [], []
    for query, year in zip(queries[:, None], until.tolist(), strict=True):
        start = time.perf_counter()
        while len(rows) == len(seconds):
            with contextlib.suppress(StoreUnavailableError):  # it is asked again, and waits longer
                rows.append(search(query, year))
        seconds.append(time.perf_counter() - start)
    return np.concatenate(rows), np.array(seconds)


def report(
    name: str,
    papers: np.ndarray,
    exact: np.ndarray,
    rows: np.ndarray,
    seconds: np.ndarray,
    flat: np.ndarray,
) -> None:
    """Print one row."""
    recall = (rows[:, :, None] == exact[:, None]).any(2).mean()
    ours, theirs = (1000 * np.quantile(times, [0.5, 0.99]) for times in (seconds, flat))
    print_row(
        f"{name}, top {CUTOFF} of one query in {len(papers):,} x {papers.shape[1]}, by year",
        *("exact search of FAISS", "recall >= 0.95", f"recall {recall:.4f}"),
        *(f"p50 {one[0]:.1f} ms, p99 {one[1]:.1f} ms" for one in (ours, theirs)),
        "-",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
