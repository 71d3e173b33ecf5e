"""Stores by URL beside FAISS: recall of exact search, and how long a question waits.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_stores.py [vectors] [number]``, with
URLs in STORES, such as ``STORES="lists:FOLDER milvus://localhost:19530
postgresql://localhost/papers"``. Papers are those of a vectors directory, and as many neighbours of
them as make up the number; contexts of the test split ask for ten, one at a time, those until a
random year. HNSW has the same settings everywhere. A server's processor time is not ours.
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
from contest import contest, forget_peak, peak_mib, print_row

from mpbert.foundation.errors import StoreUnavailableError
from mpbert.recommending.matching import cosines
from mpbert.recommending.near import NearPapers
from mpbert.retrieval.stores.base import Mark
from mpbert.retrieval.stores.index import StoreIndex
from mpbert.vectors.normal import normalized

CUTOFF, QUERIES, FEW, DIM, YEARS = 10, 200, 20, 256, np.arange(1990, 2021)
NEIGHBOURS, BUILD_WIDTH, WIDTH = 16, 200, 128  # of HNSW, as the stores have them
HNSW_PAPERS = 200_000  # of more, a graph takes a core an hour


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
    everything = faiss.IndexFlatIP(papers.shape[1])
    everything.add(papers)
    answers, *flat = timed(_by_year(everything, years, faiss.SearchParameters), queries, until)
    if len(papers) <= HNSW_PAPERS:
        lists = faiss.IndexHNSWFlat(papers.shape[1], NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
        lists.hnsw.efConstruction = BUILD_WIDTH
        wide = partial(faiss.SearchParametersHNSW, efSearch=WIDTH)
        start = time.perf_counter()
        lists.add(papers)
        print(f"FAISS, HNSW: made in {time.perf_counter() - start:.0f} s")
        found = timed(_by_year(lists, years, wide), queries, until)
        report("FAISS, HNSW", papers, answers, *found, *flat)
    for url in os.environ.get("STORES", "").split():
        forget_peak()
        start, computed, before = time.perf_counter(), time.process_time(), peak_mib()
        stored = StoreIndex(papers, "cosine", url, Mark("benchmark" * 3, number), ids, years)
        print(
            f"{url.partition(':')[0]}: held after {time.perf_counter() - start:.0f} s, "
            f"{time.process_time() - computed:.0f} s of CPU here, {peak_mib() - before:,.0f} MiB"
        )
        some = {year: stored.within(years <= year) for year in np.unique(until).tolist()}
        found = timed(lambda q, y, some=some: some[y].search(q, CUTOFF, nobody)[0], queries, until)
        report(url.partition(":")[0], papers, answers, *found, *flat)
        near = NearPapers(stored._stored, papers, np.arange(len(papers)), years)
        costs = contest(
            {
                "store": lambda near=near: [near.of(query, None) for query in queries[:FEW]],
                "all": lambda: [cosines(papers, query) for query in queries[:FEW]],
            },
            rounds=3,
        )
        ours, theirs = (1000 * costs[name].computed / FEW for name in ("store", "all"))
        print_row(
            f"{url.partition(':')[0]}, cosines of a question among {len(papers):,} x {DIM}",
            *("cosines of all", "-", theirs / ours),
            *(f"{one:.2f} ms of CPU here" for one in (ours, theirs)),
            "-",
        )


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
    until = {
        year: faiss.IDSelectorBitmap(np.packbits(years <= year, bitorder="little"))
        for year in YEARS.tolist()
    }

    def search(query: np.ndarray, year: int) -> np.ndarray:
        return index.search(query, CUTOFF, params=parameters(sel=until[year]))[1]

    return search


def timed(
    search: Callable[..., np.ndarray], queries: np.ndarray, until: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (Q, CUTOFF) rows, (Q,) seconds of each, and seconds of the processor of one.

    All was asked once before.
    """
    for query, year in zip(queries[:, None], until.tolist(), strict=True):
        with contextlib.suppress(StoreUnavailableError):
            search(query, year)
    rows, seconds, computed = [], [], time.process_time()
    for query, year in zip(queries[:, None], until.tolist(), strict=True):
        start = time.perf_counter()
        while len(rows) == len(seconds):
            with contextlib.suppress(StoreUnavailableError):  # it is asked again, and waits longer
                rows.append(search(query, year))
        seconds.append(time.perf_counter() - start)
    computed = (time.process_time() - computed) / len(queries)
    return np.concatenate(rows), np.array(seconds), computed


def report(
    name: str,
    papers: np.ndarray,
    exact: np.ndarray,
    rows: np.ndarray,
    seconds: np.ndarray,
    computed: float,
    flat: np.ndarray,
    computed_flat: float,
) -> None:
    """Print one row."""
    recall = (rows[:, :, None] == exact[:, None]).any(2).mean()
    told = [
        f"p50 {p50:.1f} ms, p99 {p99:.1f} ms; {1000 * of_cpu:.2f} ms of CPU here"
        for times, of_cpu in ((seconds, computed), (flat, computed_flat))
        for p50, p99 in [1000 * np.quantile(times, [0.5, 0.99])]
    ]
    print_row(
        f"{name}, top {CUTOFF} of one query in {len(papers):,} x {papers.shape[1]}, by year",
        *("exact search of FAISS", "recall >= 0.95", f"recall {recall:.4f}"),
        *told,
        "-",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
