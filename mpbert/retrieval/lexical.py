"""BM25 over what a paper says of itself, and over what training sentences say when citing it.

Robertson and Zaragoza (Foundations and Trends in IR 2009), Sec. 3, with the idf of Lucene, which
is never negative:

    score(q, d) = Σ_w count(w, q) · idf(w) · tf / (tf + k1 · (1 - b + b · |d| / mean |d|))
    idf(w) = ln(1 + (N - df(w) + 0.5) / (df(w) + 0.5)),    tf = count(w, d)

Words are those of :mod:`mpbert.data.text`, without plural endings; there are no stop words, since
their idf is small.

Chosen on the validation splits of the RFC and ACL corpora: k1 = 2 and b = 0.75; stems better than
words; of a training context the citing sentence alone, better than all three sentences; of a query
context all three sentences, the citing one counted three times, better than once.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from scipy import sparse

from mpbert.data.bags import count_matrix
from mpbert.data.ragged import ranges, row_numbers
from mpbert.data.store import Contexts, CorpusStore
from mpbert.errors import ConfigError
from mpbert.progress import progress
from mpbert.retrieval.ranking import num_ranked, top_k

LEXICAL = ("bm25-abstract", "bm25-citing")
_BLOCK = 256  # queries scored at once: their scores of all papers lie in memory


class Bm25:
    """All papers by their words.

    :param counts: (N, V) how often each paper holds each word.
    :param vocabulary: (V,) stems of the columns.
    :param k1: how soon a repeated word counts no more.
    :param b: from 0, lengths do not matter, to 1, they do.
    """

    def __init__(
        self, counts: sparse.csr_array, vocabulary: pa.Array, k1: float = 2.0, b: float = 0.75
    ) -> None:
        self._vocabulary = vocabulary
        self._weights = bm25_weights(counts, k1, b).T.tocsr()  # (V, N)

    def search(
        self, texts: Sequence[str], k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k papers of largest score for each query text, best first.

        :param texts: (Q,) query texts.
        :param excluded_rows: (Q,) row of the citing paper, which is no candidate, or -1.
        :returns: (Q, K) rows and (Q, K) scores; K is smaller than k where the papers are too few.
        """
        queries, _ = count_matrix(pa.array(texts, pa.string()), self._vocabulary, stemmed=True)
        k = num_ranked(k, self._weights.shape[1], excluded_rows)
        rows = np.empty((len(texts), k), dtype=np.int64)
        scores = np.empty((len(texts), k))
        for start in progress(range(0, len(texts), _BLOCK), "lexical search", "block"):
            block = slice(start, start + _BLOCK)
            dense = (queries[block] @ self._weights).toarray()  # (Q, N)
            rows[block], scores[block] = top_k(dense, k, excluded_rows[block])
        return rows, scores


def bm25_weights(counts: sparse.csr_array, k1: float, b: float) -> sparse.csr_array:
    """Return the (N, V) part of each word in a paper's score, for a query that holds it once.

    :param counts: (N, V) how often each paper holds each word.
    """
    num_papers, num_words = counts.shape
    frequency = np.bincount(counts.indices, minlength=num_words)  # (V,)
    idf = np.log1p((num_papers - frequency + 0.5) / (frequency + 0.5))
    lengths = counts.sum(axis=1)  # (N,)
    norm = k1 * (1 - b + b * lengths / max(lengths.mean(), 1))  # (N,)
    tf = counts.data.astype(np.float64)
    rows = row_numbers(np.diff(counts.indptr))
    weights = idf[counts.indices] * tf / (tf + norm[rows])
    return sparse.csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)


def build_index(store: CorpusStore, name: str) -> Bm25:
    """Return the index called ``bm25-abstract`` or ``bm25-citing``.

    Both hold title and abstract of every paper; the second also the training sentences that cite
    it, of which no word comes from a validation or test paper.

    :raises ConfigError: there is no such index.
    """
    if name not in LEXICAL:
        raise ConfigError(f"unknown lexical index {name!r}; expected one of {', '.join(LEXICAL)}")
    texts, papers = own_texts(store)
    if name == "bm25-citing":
        citing, cited_papers = citing_texts(store)
        texts, papers = pa.concat_arrays([texts, citing]), np.concatenate([papers, cited_papers])
    counts, vocabulary = count_matrix(texts, stemmed=True)  # (M, V)
    ones = np.ones(len(papers), dtype=np.int32)
    places = (papers, np.arange(len(papers)))
    owners = sparse.csr_array((ones, places), shape=(store.num_papers, len(papers)))  # (N, M)
    return Bm25((owners @ counts).tocsr(), vocabulary)


def own_texts(store: CorpusStore) -> tuple[pa.Array, np.ndarray]:
    """Return all titles and all sentences of abstracts, and the row of the paper of each."""
    sentence_rows = ranges(store.sentence_offsets[:-1], store.num_abstract)
    sentences = store.sentences.take(pa.array(sentence_rows, pa.int64()))
    texts = pa.concat_arrays([pa.array(store.titles, pa.large_string()), sentences])
    return texts, np.concatenate([np.arange(store.num_papers), row_numbers(store.num_abstract)])


def citing_texts(store: CorpusStore) -> tuple[pa.Array, np.ndarray]:
    """Return the training sentences that cite papers, once per cited paper, and its row."""
    contexts = store.contexts("train")
    sentence_rows = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    once_per_cited = np.repeat(sentence_rows, np.diff(contexts.cited_offsets))
    return store.sentences.take(pa.array(once_per_cited, pa.int64())), contexts.cited_rows


def query_texts(store: CorpusStore, contexts: Contexts) -> list[str]:
    """Return (Q,) local texts in which the citing sentence stands three times."""
    sentence_rows = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    citing = store.sentence_texts(sentence_rows)
    local = store.local_texts(contexts)
    return [f"{text} {one} {one}" for text, one in zip(local, citing, strict=True)]
