"""The papers that training queries are ranked for: those of the training split."""

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries


def training_pool(store: CorpusStore, queries: Queries) -> tuple[np.ndarray, np.ndarray]:
    """Return (M,) rows of training papers, and (Q,) the place of each citing paper among them.

    :param queries: of the training split.
    """
    pool = np.flatnonzero(store.paper_splits == "train")
    return pool, np.searchsorted(pool, queries.citing_rows)
