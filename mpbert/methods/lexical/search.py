"""Rankings of the papers of a corpus by a lexical method."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mpbert.corpus.fields import no_word, paper_blocks, query_texts
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.index import LexicalIndex
from mpbert.methods.lexical.method import LexicalMethod
from mpbert.retrieval.pool import training_pool

if TYPE_CHECKING:  # tantivy is of an extra
    from scipy import sparse

    from mpbert.methods.lexical.on_disk import WordsOnDisk


class LexicalSearch:
    """All papers of a corpus by their words, in memory.

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


class DiskSearch:
    """All papers of a corpus by their words, on disk: see :mod:`mpbert.methods.lexical.on_disk`.

    :param pool: one of :data:`mpbert.retrieval.options.POOLS`; words weigh the same in each.
    """

    def __init__(self, store: CorpusStore, method: Bm25, pool: str = "known") -> None:
        store.map_sentences()
        self._store, self._method, self._pool = store, method, pool

    @cached_property
    def _all(self) -> "WordsOnDisk":
        return self._index(np.ones(self._store.num_papers, dtype=bool))

    @cached_property
    def _training(self) -> "WordsOnDisk":
        return self._index(self._store.paper_splits == "train")

    def _index(self, wanted: np.ndarray) -> "WordsOnDisk":
        from mpbert.methods.lexical.on_disk import WordsOnDisk

        def blocks() -> Iterator[tuple[np.ndarray, "sparse.csr_array", pa.Array]]:
            for first, counts, words in paper_blocks(self._store, self._method.fields):
                papers = np.flatnonzero(wanted[first : first + counts.shape[0]])
                yield self._store.years[first + papers], counts[papers], words

        found = WordsOnDisk(self._method, blocks())
        if not found.num_stems:
            raise no_word(self._store, self._method.fields)
        return found

    def search(self, queries: Queries, split: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rankings, as :meth:`LexicalSearch.search`.

        :returns: (Q, K) rows, -1 beyond the end of a list, and (Q, K) scores, -inf there. A paper
            that shares no word with a query is not in its list.
        """
        method = self._method
        texts = query_texts(self._store, queries, method.citing_weight, method.query)
        years = queries.years if self._pool == "known" else None
        if split != "train":
            return self._all.search(texts, k, queries.citing_rows, years)
        papers, own = training_pool(self._store, queries)
        rows, scores = self._training.search(texts, k, own, years)
        return np.where(rows >= 0, papers[rows], -1), scores
