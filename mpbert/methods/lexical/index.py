"""Rankings by words over fields of the papers: the index.

A paper and a query are each a vector over stems (words of :mod:`mpbert.corpus.text` without plural
endings), and the score is their inner product. There are no stop words, since their idf is small.
What a word weighs, a method says; the ranking is exact, in float64,
with the tie rule of :mod:`mpbert.retrieval.ranking`.

Chosen on the validation splits of the RFC and ACL corpora: k1 = 2 and b = 0.75; stems better than
words; of a query context all three sentences, the citing one counted three times, better than once.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import count_matrix
from mpbert.foundation.progress import progress
from mpbert.methods.lexical.method import LexicalMethod
from mpbert.methods.lexical.postings import Postings
from mpbert.retrieval.ranking import num_ranked, top_k

if TYPE_CHECKING:  # to tell types
    from scipy import sparse

_SCORES = 1 << 20  # of queries that are scored at once: 8 MiB


class LexicalIndex:
    """All papers by their words.

    :param method: what the words weigh.
    :param counts: (N, V) how often each paper holds each word, see ``LexicalMethod.count_words``.
    :param vocabulary: (V,) stems of the columns.
    :param num_papers: N; None: as many as were counted.
    """

    def __init__(
        self,
        method: LexicalMethod,
        counts: "sparse.csr_array",
        vocabulary: pa.Array,
        num_papers: int | None = None,
    ) -> None:
        self._method = method
        self._vocabulary = vocabulary
        self._num_papers = counts.shape[0] if num_papers is None else num_papers
        by_word = method.weigh_papers(counts).tocsc()
        papers = by_word.indices.astype(np.intp)  # others are converted at each addition
        self._postings = Postings(by_word.indptr, papers, by_word.data)
        self._num_texts = counts.shape[0]  # which may be contexts of papers

    def search(
        self,
        texts: Sequence[str],
        k: int,
        excluded_rows: np.ndarray,
        years: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k papers of largest score for each query text, best first.

        Words weigh what they do among all papers of the index, candidates or not.

        :param texts: (Q,) query texts.
        :param excluded_rows: (Q,) row of the citing paper, which is no candidate, or -1.
        :param years: (N,) of the papers, and (Q,) the last year whose papers are candidates of a
            query; None: all papers are.
        :returns: (Q, K) rows, -1 beyond the end of a list, and (Q, K) scores, -inf there; K is
            smaller than k where the papers are too few.
        """
        k = num_ranked(k, self._num_papers, excluded_rows)
        rows = np.empty((len(texts), k), dtype=np.int64)
        scores = np.empty((len(texts), k))
        if not len(texts):  # which not every method can weigh
            return rows, scores
        counts, _ = count_matrix(pa.array(texts, pa.string()), self._vocabulary, stemmed=True)
        queries = self._method.weigh_queries(counts)  # (Q, V)
        size = max(_SCORES // self._num_texts, 1)
        for start in progress(range(0, len(texts), size), "lexical search", "block"):
            block = slice(start, start + size)
            dense = self._method.score_papers(self._scores(queries[block]))  # (Q, N)
            if years:
                dense[years[0] > years[1][block, None]] = -np.inf
            rows[block], scores[block] = top_k(dense, k, excluded_rows[block])
        rows[scores == -np.inf] = -1
        return rows, scores

    def _scores(self, queries: "sparse.csr_array") -> np.ndarray:
        """Return (Q, N) inner products."""
        scores = np.empty((queries.shape[0], self._num_texts))
        for query, row in enumerate(scores):
            held = slice(*queries.indptr[query : query + 2])
            words, weights = queries.indices[held], queries.data[held]
            row[:] = self._postings.scores(words, weights, self._num_texts)
        return scores
