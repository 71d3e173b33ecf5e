"""The citations of training papers as a matrix."""

import numpy as np
from scipy import sparse

from mpbert.corpus.store import CorpusStore


def training_citations(store: CorpusStore, dtype: type = np.float32) -> sparse.csr_array:
    """Return (N, N), 1 where a training paper, the row, cites a paper."""
    manuscripts = store.manuscripts("train")
    citing = np.repeat(manuscripts.citing_rows, np.diff(manuscripts.cited_offsets))
    ones = np.ones(len(citing), dtype=dtype)
    shape = store.num_papers, store.num_papers
    return sparse.csr_array((ones, (citing, manuscripts.cited_rows)), shape)
