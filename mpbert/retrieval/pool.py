"""The pool: which papers are candidates of a query.

* ``known``: papers of the manuscript's year or earlier. A later one cannot have been cited. Of a
  manuscript of unknown year: all papers.
* ``all``: all papers of the corpus, whatever their year.

The manuscript itself is never a candidate. Training queries find training papers alone.
"""

from collections.abc import Iterator

import numpy as np

from mpbert.corpus.records import UNKNOWN_YEAR
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.corpus.years import were_there


def candidates_by_year(
    store: CorpusStore, queries: Queries, split: str, pool: str
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield queries of the same candidates, by year: (M,) their places, and (N,) a mask of papers.

    The mask holds the manuscripts too, which each of its own queries has to leave out.

    :param split: of the queries.
    :param pool: one of :data:`mpbert.retrieval.options.POOLS`.
    """
    papers = np.ones(store.num_papers, dtype=bool)
    if split == "train":
        papers = store.paper_splits == "train"
    if pool == "all":
        yield np.arange(len(queries)), papers
        return
    for year in np.unique(queries.years):
        yield np.flatnonzero(queries.years == year), papers & were_there(store.years, year)


def num_candidates(years: np.ndarray, manuscript_years: np.ndarray, pool: str) -> np.ndarray:
    """Return (Q,) how many papers are candidates of each query that is none of training.

    :param years: (N,) of all papers.
    :param manuscript_years: (Q,) of the papers of the queries, which are in the corpus.
    :param pool: one of :data:`mpbert.retrieval.options.POOLS`.
    """
    if pool == "all":
        return np.full(len(manuscript_years), len(years) - 1)
    counts = np.searchsorted(np.sort(years), manuscript_years, side="right") - 1
    return np.where(manuscript_years == UNKNOWN_YEAR, len(years) - 1, counts)


def training_pool(store: CorpusStore, queries: Queries) -> tuple[np.ndarray, np.ndarray]:
    """Return (M,) rows of training papers, and (Q,) the place of each citing paper among them.

    :param queries: of the training split.
    """
    pool = np.flatnonzero(store.paper_splits == "train")
    return pool, np.searchsorted(pool, queries.citing_rows)
