"""Rankings by words: BM25 and TF-IDF over fields of the papers.

A paper and a query are each a vector over stems (words of :mod:`mpbert.corpus.text` without plural
endings), and the score is their inner product. There are no stop words, since their idf is small.
What a word weighs comes from libraries, bm25s and scikit-learn; the ranking is exact, in float64,
with the tie rule of :mod:`mpbert.retrieval.ranking`.

Chosen on the validation splits of the RFC and ACL corpora: k1 = 2 and b = 0.75; stems better than
words; of a query context all three sentences, the citing one counted three times, better than once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pyarrow as pa
from scipy import sparse

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.fields import QUERIES, split_fields
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.progress import progress
from mpbert.foundation.registry import Registry
from mpbert.retrieval.ranking import num_ranked, top_k

_BLOCK = 256  # queries scored at once: their scores of all papers lie in memory


@dataclass
class LexicalMethod(ABC):
    """What words weigh; the fields of a member are its settings.

    :param fields: what of a paper is indexed, see :mod:`mpbert.corpus.fields`.
    :param citing_weight: how often the citing sentence counts beside its neighbours.
    :param query: what of a context is asked with: its sentences, title and abstract of its paper.
    """

    name: ClassVar[str]
    fields: str = setting("abstract")
    citing_weight: int = setting(3, minimum=1)
    query: str = setting("context", choices=QUERIES)

    def __post_init__(self) -> None:
        """Check what a single setting cannot."""
        split_fields(self.fields)

    @abstractmethod
    def weigh_papers(self, counts: sparse.csr_array) -> sparse.sparray:
        """Return (N, V) weights of the words of papers.

        :param counts: (N, V) how often each paper holds each word.
        """

    def weigh_queries(self, counts: sparse.csr_array) -> sparse.sparray:
        """Return (Q, V) weights of the words of queries, after those of the papers are known.

        :param counts: (Q, V) how often each query holds each word.
        """
        return counts


LEXICAL: Registry[type[LexicalMethod]] = Registry("lexical method")


@LEXICAL.register
@dataclass
class Bm25(LexicalMethod):
    """Robertson and Zaragoza (FnTIR 2009), Sec. 3, with the idf of Lucene, never negative.

        score(q, d) = Σ_w count(w, q) · idf(w) · tf / (tf + k1 · (1 - b + b · |d| / mean |d|))
        idf(w) = ln(1 + (N - df(w) + 0.5) / (df(w) + 0.5)),    tf = count(w, d)

    :param k1: how soon a repeated word counts no more.
    :param b: from 0, lengths do not matter, to 1, they do.
    """

    name: ClassVar[str] = "bm25"
    k1: float = setting(2.0, minimum=0)
    b: float = setting(0.75, minimum=0)

    def __post_init__(self) -> None:
        """Check what a single setting cannot."""
        super().__post_init__()
        if self.b > 1:
            raise ConfigError(f"b={self.b}: found more than 1; expected a number from 0 to 1")

    def weigh_papers(self, counts: sparse.csr_array) -> sparse.sparray:
        """Return the part of each word in a paper's score, for a query that holds it once."""
        import bm25s  # half a second, which search by vectors need not wait for

        num_papers, num_words = counts.shape
        index = bm25s.BM25(self.k1, self.b, method="lucene", dtype="float64", csc_backend="scipy")
        scores = index.build_index_from_ids(
            range(num_words), _PaperWords(counts), show_progress=False
        )
        parts = scores["data"], scores["indices"], scores["indptr"]
        return sparse.csc_array(parts, shape=(num_papers, num_words))


class _PaperWords:
    """Columns of the words of each paper, as often as it holds them: lists made one at a time."""

    def __init__(self, counts: sparse.csr_array) -> None:
        self._counts = counts

    def __len__(self) -> int:
        return self._counts.shape[0]

    def __iter__(self) -> Iterator[list[int]]:
        offsets, columns, counts = self._counts.indptr, self._counts.indices, self._counts.data
        for start, end in pairwise(offsets):
            yield np.repeat(columns[start:end], counts[start:end]).tolist()


@LEXICAL.register
@dataclass
class TfIdf(LexicalMethod):
    """Cosine of TF-IDF vectors: Manning, Raghavan and Schütze (2008), Sec. 6.4.1.

    weight(w, d) = (1 + ln count(w, d)) · (1 + ln((1 + N) / (1 + df(w)))),  scaled to length 1
    """

    name: ClassVar[str] = "tfidf"

    def weigh_papers(self, counts: sparse.csr_array) -> sparse.sparray:
        """Return rows of length 1, and keep the frequencies of words for the queries."""
        from sklearn.feature_extraction.text import TfidfTransformer  # a second, as above

        self._transformer = TfidfTransformer(sublinear_tf=True)
        return sparse.csr_array(self._transformer.fit_transform(counts.astype(np.float64)))

    def weigh_queries(self, counts: sparse.csr_array) -> sparse.sparray:
        """Return rows of length 1."""
        return sparse.csr_array(self._transformer.transform(counts.astype(np.float64)))


class LexicalIndex:
    """All papers by their words.

    :param method: what the words weigh.
    :param counts: (N, V) how often each paper holds each word.
    :param vocabulary: (V,) stems of the columns.
    """

    def __init__(
        self, method: LexicalMethod, counts: sparse.csr_array, vocabulary: pa.Array
    ) -> None:
        self._method = method
        self._vocabulary = vocabulary
        self._weights = method.weigh_papers(counts).T.tocsr()  # (V, N)

    def search(
        self, texts: Sequence[str], k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k papers of largest score for each query text, best first.

        :param texts: (Q,) query texts.
        :param excluded_rows: (Q,) row of the citing paper, which is no candidate, or -1.
        :returns: (Q, K) rows and (Q, K) scores; K is smaller than k where the papers are too few.
        """
        counts, _ = count_matrix(pa.array(texts, pa.string()), self._vocabulary, stemmed=True)
        queries = self._method.weigh_queries(counts)  # (Q, V)
        k = num_ranked(k, self._weights.shape[1], excluded_rows)
        rows = np.empty((len(texts), k), dtype=np.int64)
        scores = np.empty((len(texts), k))
        for start in progress(range(0, len(texts), _BLOCK), "lexical search", "block"):
            block = slice(start, start + _BLOCK)
            dense = (queries[block] @ self._weights).toarray()  # (Q, N)
            rows[block], scores[block] = top_k(dense, k, excluded_rows[block])
        return rows, scores
