"""Rankings of the papers of a corpus by a lexical method."""

import numpy as np

from mpbert.corpus.fields import paper_counts, query_texts, split_fields
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.errors import ConfigError
from mpbert.methods.lexical.index import LexicalIndex, LexicalMethod
from mpbert.retrieval.training_pool import training_pool


class LexicalSearch:
    """All papers of a corpus by their words."""

    def __init__(self, store: CorpusStore, method: LexicalMethod) -> None:
        self._store, self._method = store, method
        self._counts, self._vocabulary = paper_counts(store, method.fields, stemmed=True)
        self._index = LexicalIndex(method, self._counts, self._vocabulary)

    def search(self, queries: Queries, split: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (Q, K) rows and (Q, K) scores; training queries find training papers alone."""
        method = self._method
        texts = query_texts(self._store, queries, method.citing_weight, method.query)
        if split != "train":
            return self._index.search(texts, k, queries.citing_rows)
        pool, own = training_pool(self._store, queries)
        index = LexicalIndex(method, self._counts[pool], self._vocabulary)
        rows, scores = index.search(texts, k, own)
        return pool[rows], scores


def check_fields(method: LexicalMethod, splits: list[str]) -> None:
    """Refuse to rank for training contexts by the training contexts.

    :raises ConfigError: a paper is the sentences that cite it, and training queries are these.
    """
    if "train" in splits and "citing" in split_fields(method.fields):
        raise ConfigError(
            f"--splits train: fields={method.fields} holds the training contexts themselves, "
            f"which would find what they cite; expected abstract or text"
        )
