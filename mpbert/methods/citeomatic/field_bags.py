"""Title, abstract and body as separate bags of words, for methods that weigh them separately.

The words are those of :func:`mpbert.corpus.text.words`. A vocabulary comes from titles and
abstracts of training papers alone: words that most of them hold are left out, as stop words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.fields import paper_counts
from mpbert.corpus.store import Contexts, CorpusStore, Queries
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.ragged import offsets_of, ranges

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse

TITLE, ABSTRACT, CONTEXT = range(3)  # places of the fields that all texts have
_MAX_SHARE = 0.5  # of the training papers that hold a word
_BLOCK = 1 << 14  # texts counted at once


@dataclass(frozen=True)
class BagBatch:
    """Some bags of words, and the distinct words in them.

    :param words: (U,) distinct words, as columns of the vocabulary, ascending.
    :param places: (T,) place in ``words`` of each word of each bag, one bag after another.
    :param counts: (T,) float32, how often the bag holds it.
    :param offsets: (M + 1,) where the bags begin.
    """

    words: np.ndarray
    places: np.ndarray
    counts: np.ndarray
    offsets: np.ndarray


def training_vocabulary(store: CorpusStore, size: int) -> tuple[pa.Array, np.ndarray]:
    """Return the words of the training papers, those of most papers first, and in how many.

    :param size: most words.
    :returns: (V,) words and (V,) numbers of training papers whose title or abstract holds them.
    :raises CorpusError: there is no word.
    """
    rows = np.flatnonzero(store.paper_splits == "train")
    counts, words = count_matrix(pa.array(store.abstract_texts(rows), pa.large_string()))
    papers = np.bincount(counts.indices, minlength=len(words))
    kept = np.flatnonzero(papers <= max(_MAX_SHARE * len(rows), 1))
    if not len(kept):
        raise CorpusError(
            f"{store.path}: found no word in the titles and abstracts of training papers; expected "
            f"some, choose a corpus with titles or other years"
        )
    spelled = np.array(words.to_pylist(), dtype=str)[kept]  # ties: whatever order texts are in
    kept = kept[np.lexsort((spelled, -papers[kept]))][:size]
    return words.take(pa.array(kept)), papers[kept]


def inverse_frequencies(store: CorpusStore, frequencies: np.ndarray) -> np.ndarray:
    """Return (V,) ln(N / n_t), N training papers of which n_t hold the word t.

    :param frequencies: (V,) n_t, see :func:`training_vocabulary`.
    """
    return np.log((store.paper_splits == "train").sum() / frequencies)


def word_counts(texts: Sequence[str], vocabulary: pa.Array) -> "sparse.csr_array":
    """Return (M, V) float32 counts of the words of texts."""
    parts = [
        count_matrix(pa.array(texts[start : start + _BLOCK], pa.large_string()), vocabulary)[0]
        for start in range(0, len(texts), _BLOCK)
    ]
    from scipy import sparse

    none = _empty_counts(0, len(vocabulary))
    return sparse.vstack([none, *parts], format="csr").astype(np.float32)


def _empty_counts(num_texts: int, num_words: int) -> "sparse.csr_array":
    """Return (M, V) float32 counts of texts without a word."""
    from scipy import sparse

    return sparse.csr_array((num_texts, num_words), dtype=np.float32)


def paper_fields(store: CorpusStore, vocabulary: pa.Array) -> "list[sparse.csr_array]":
    """Return (N, V) counts of titles, abstracts and contexts of all papers; the last are empty."""
    titles = word_counts(store.titles, vocabulary)
    abstracts = word_counts(store.abstract_texts(np.arange(store.num_papers)), vocabulary) - titles
    abstracts.eliminate_zeros()
    return [titles, abstracts, _empty_counts(*titles.shape)]


def body_counts(
    store: CorpusStore, vocabulary: pa.Array, papers: "Sequence[sparse.csr_array]"
) -> "sparse.csr_array":
    """Return (N, V) float32 counts of the words of bodies: of whole papers, less these fields.

    :param papers: what :func:`paper_fields` returns.
    """
    whole, _ = paper_counts(store, "text", vocabulary)
    bodies = whole.astype(np.float32) - papers[TITLE] - papers[ABSTRACT]
    bodies.eliminate_zeros()
    return bodies


def query_fields(
    store: CorpusStore,
    queries: Queries,
    vocabulary: pa.Array,
    papers: "Sequence[sparse.csr_array]",
    query: str,
) -> "list[sparse.csr_array]":
    """Return (Q, V) counts of as many fields as papers have; those that a query lacks are empty.

    :param papers: what :func:`paper_fields` returns, and further fields, which no query has.
    :param query: ``context``: contexts stand for themselves; ``context+abstract``: title and
        abstract of the citing paper too.
    """
    empty = _empty_counts(len(queries), len(vocabulary))
    fields = [empty] * len(papers)
    is_local = isinstance(queries, Contexts)
    if not is_local or query == "context+abstract":
        for place in (TITLE, ABSTRACT):
            fields[place] = papers[place][queries.citing_rows]
    if is_local:
        fields[CONTEXT] = word_counts(store.local_texts(queries), vocabulary)
    return fields


def take_bags(
    fields: "Sequence[sparse.csr_array]",
    rows: np.ndarray,
    dropout: float = 0.0,
    rng: np.random.Generator | None = None,
) -> BagBatch:
    """Return the bags of some texts: all of the first field, then all of the second, and so on.

    :param fields: (M, V) counts each.
    :param rows: (B,) texts.
    :param dropout: share of words that are left out, chosen by ``rng``.
    """
    words, counts, lengths = [], [], []
    for field in fields:
        sizes = np.diff(field.indptr)[rows].astype(np.int64)
        places = ranges(field.indptr[rows], sizes)
        words.append(field.indices[places])
        counts.append(field.data[places])
        lengths.append(sizes)
    word, count, length = map(np.concatenate, (words, counts, lengths))
    if dropout:
        kept = rng.random(len(word)) >= dropout
        before = np.concatenate([[0], np.cumsum(kept)])
        length = np.diff(before[offsets_of(length)])
        word, count = word[kept], count[kept]
    place_of = np.zeros(fields[0].shape[1], dtype=np.int64)  # quicker than sorting the words
    place_of[word] = 1
    distinct = np.flatnonzero(place_of)
    place_of[distinct] = np.arange(len(distinct))
    return BagBatch(distinct, place_of[word], count, offsets_of(length))


def jaccard_similarity(
    queries: "sparse.csr_array", papers: "sparse.csr_array", query: np.ndarray, paper: np.ndarray
) -> np.ndarray:
    """Return |A ∩ B| / |A ∪ B| of the words of queries and papers; 0 where both are empty.

    :param queries: (Q, V); ``papers`` (N, V), what is not 0 is a word.
    :param query: (P,) rows of the queries; ``paper`` (P,) rows of the papers.
    """
    shared = np.empty(len(query), dtype=np.int64)
    for start in range(0, len(query), _BLOCK):
        block = slice(start, start + _BLOCK)
        shared[block] = np.diff(shared_words(queries, papers, query[block], paper[block]).indptr)
    either = np.diff(queries.indptr)[query] + np.diff(papers.indptr)[paper] - shared
    return shared / np.maximum(either, 1)


def shared_words(
    queries: "sparse.csr_array", papers: "sparse.csr_array", query: np.ndarray, paper: np.ndarray
) -> "sparse.csr_array":
    """Return (P, V), not 0 where both texts of a pair hold the word; see the function above."""
    return queries[query].multiply(papers[paper]).tocsr()
