"""Rankings of the papers of a corpus by a lexical method."""

import numpy as np

from mpbert.corpus.fields import query_texts, split_fields
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.errors import ConfigError
from mpbert.methods.lexical.index import LexicalIndex
from mpbert.methods.lexical.method import LexicalMethod
from mpbert.retrieval.pool import training_pool


class LexicalSearch:
    """All papers of a corpus by their words.

    :param pool: one of :data:`mpbert.retrieval.options.POOLS`; words weigh the same in each.
    """

    def __init__(self, store: CorpusStore, method: LexicalMethod, pool: str = "known") -> None:
        self._store, self._method, self._pool = store, method, pool
        self._counts, self._vocabulary = method.count_words(store)
        self._index = LexicalIndex(method, self._counts, self._vocabulary, store.num_papers)

    def search(self, queries: Queries, split: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rankings, best first; training queries find training papers alone.

        :returns: (Q, K) rows, -1 beyond the end of a list, and (Q, K) scores, -inf there.
        """
        method = self._method
        texts = query_texts(self._store, queries, method.citing_weight, method.query)
        if split != "train":
            years = self._years(self._store.years, queries)
            return self._index.search(texts, k, queries.citing_rows, years)
        papers, own = training_pool(self._store, queries)
        index = LexicalIndex(method, self._counts[papers], self._vocabulary, len(papers))
        years = self._years(self._store.years[papers], queries)
        rows, scores = index.search(texts, k, own, years)
        return np.where(rows >= 0, papers[rows], -1), scores

    def _years(
        self, of_papers: np.ndarray, queries: Queries
    ) -> tuple[np.ndarray, np.ndarray] | None:
        return (of_papers, queries.years) if self._pool == "known" else None


def check_fields(method: LexicalMethod, splits: list[str]) -> None:
    """Refuse to rank for training contexts by the training contexts.

    :raises ConfigError: a paper is the sentences that cite it, and training queries are these.
    """
    if "train" in splits and "citing" in split_fields(method.fields):
        raise ConfigError(
            f"--splits train: fields={method.fields} holds the training contexts themselves, "
            f"which would find what they cite; expected abstract or text"
        )
