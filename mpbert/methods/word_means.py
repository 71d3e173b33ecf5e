"""Means of word vectors, the query vectors of several methods."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.fields import plain_texts
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.errors import CorpusError
from mpbert.vectors.store import VectorStore

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse

QUERIES = ("mean", "centred")


def means_of_counts(counts: "sparse.csr_array", vectors: np.ndarray) -> np.ndarray:
    """Return (M, D) float64 means of the word vectors of texts; zero for a text without words.

    :param counts: (M, V) how often each text holds each word.
    :param vectors: (V, D).
    """
    totals = np.maximum(counts.sum(axis=1), 1)[:, None]
    return (counts.astype(np.float32) @ vectors) / totals


def query_means(
    store: CorpusStore, queries: Queries, words: pa.Array, vectors: np.ndarray, query: str = "mean"
) -> VectorStore:
    """Return the mean word vectors of the texts of queries; unknown words are skipped.

    :param words: (V,) known words.
    :param vectors: (V, D).
    :param query: ``mean``, or ``centred``: less the mean of the training contexts. What all
        contexts share, mostly the vectors of frequent words, then ranks no paper. A context
        without a known word keeps the vector zero.
    :raises CorpusError: there is no training context to centre by.
    """
    texts = pa.array(plain_texts(store, queries), pa.large_string())
    counts, _ = count_matrix(texts, words)
    means = means_of_counts(counts, vectors)
    if query == "centred":
        training = query_means(store, store.contexts("train"), words, vectors).vectors
        if not len(training):
            raise CorpusError(
                f"{store.path}: found no training context to centre queries by; expected some, "
                f"choose other years or --settings query=mean"
            )
        means[counts.sum(axis=1) > 0] -= training.mean(axis=0, dtype=np.float64)
    return VectorStore(queries.query_ids, means.astype(np.float32))
