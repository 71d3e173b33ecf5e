"""The arrays that are looked up at a question, worked out once from the tables of an index."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from scipy import sparse

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.cocitation import cocitation_counts
from mpbert.corpus.fields import sum_counts
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.recommending.arrow_writing import arrow_texts
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.lookup import TIMES, ContextWords, FieldWords, Lookup, Postings
from mpbert.recommending.tables import IndexTables

_BLOCK = 1 << 16  # texts counted at once: their words lie in memory one by one
_ALONE = 1, 1  # as lookup.TIMES, without bodies
_WITH_BODIES = {"k1": 16.0, "b": 0.5}  # settings of BM25, those of the row bm25_fields
_CITING_WEIGHT = 3  # a citing sentence beside its neighbours, as in a question
Source = tuple[str, pa.Array, np.ndarray, int]  # of sum_counts


def build_lookup(tables: IndexTables) -> tuple[Lookup, TextColumn]:
    """Return the arrays and the (V,) vocabulary of stems; same tables, same bytes.

    :raises CorpusError: there is no word at all.
    """
    num_papers = tables.papers.num_rows
    offsets, cited = tables.cited()
    times = _ALONE if tables.bodies is None else TIMES
    counts, vocabulary = _paper_words(tables, offsets, cited, times)
    if not len(vocabulary):
        raise CorpusError("the papers of the index hold no word; expected titles, add some")
    method = Bm25() if tables.bodies is None else Bm25(**_WITH_BODIES)
    words = _arrays(method.weigh_papers(counts))
    contexts_of_papers = np.argsort(cited, kind="stable")
    bags, idf = _context_bags(arrow_texts(tables.contexts["text"]), vocabulary)
    together = cocitation_counts(offsets, cited, num_papers)
    found = Lookup(
        word_offsets=words.offsets,
        word_papers=words.papers,
        word_weights=words.weights,
        citing_offsets=offsets_of(np.bincount(cited, minlength=num_papers)),
        citing_contexts=row_numbers(np.diff(offsets))[contexts_of_papers].astype(np.int32),
        bag_offsets=bags.indptr.astype(np.int64),
        bag_words=bags.indices.astype(np.int32),
        bag_weights=bags.data.astype(np.float32),
        idf=idf.astype(np.float32),
        cocited_offsets=together.indptr.astype(np.int64),
        cocited_papers=together.indices.astype(np.int32),
        cocited_counts=together.data.astype(np.int32),
    )
    return found, TextColumn.of(vocabulary.to_pylist())


def build_field_words(tables: IndexTables, vocabulary: TextColumn) -> FieldWords:
    """Return the words of fields apart; same tables, same bytes.

    :param vocabulary: (V,) stems of :func:`build_lookup`.
    """
    about, citing = _sources(tables, *tables.cited(), _ALONE)
    num_papers = tables.papers.num_rows
    abstract, sentences = (_postings(part, num_papers, vocabulary) for part in (about, citing))
    return FieldWords(
        *(abstract.offsets, abstract.papers, abstract.weights),
        *(sentences.offsets, sentences.papers, sentences.weights),
    )


def build_context_words(tables: IndexTables, vocabulary: TextColumn) -> ContextWords:
    """Return the contexts by their words; same tables, same bytes.

    Words weigh what they do in :class:`mpbert.methods.lexical.bm25_contexts.Bm25Contexts`.

    :param vocabulary: (V,) stems of :func:`build_lookup`.
    """
    rows = np.arange(tables.contexts.num_rows)
    texts, around = (arrow_texts(tables.contexts[name]) for name in ("text", "around"))
    sources = [("contexts", texts, rows, _CITING_WEIGHT), ("their neighbours", around, rows, 1)]
    words = _postings(sources, len(rows), vocabulary)
    return ContextWords(words.offsets, words.papers, words.weights)


def _postings(sources: Sequence[Source], num_texts: int, vocabulary: TextColumn) -> Postings:
    counts, _ = sum_counts(sources, num_texts, arrow_texts(vocabulary), stemmed=True)
    if not counts.nnz:  # BM25 of no word has no mean length
        return Postings(
            np.zeros(len(vocabulary) + 1, dtype=np.int64),
            np.zeros(0, dtype=np.int32),
            np.zeros(0, dtype=np.float32),
        )
    return _arrays(Bm25().weigh_papers(counts))


def _arrays(weights: sparse.csc_array) -> Postings:
    """Return (N, V) weights by column."""
    offsets, papers = weights.indptr.astype(np.int64), weights.indices.astype(np.int32)
    return Postings(offsets, papers, weights.data.astype(np.float32))


def _sources(
    tables: IndexTables, offsets: np.ndarray, cited: np.ndarray, times: tuple[int, int]
) -> tuple[list[Source], list[Source]]:
    """Return the texts of title and abstract, and the sentences that cite, for ``sum_counts``.

    :param times: how often the ones and the others count.
    """
    rows = np.arange(tables.papers.num_rows)
    once_per_cited = pa.array(row_numbers(np.diff(offsets)), pa.int64())
    texts = arrow_texts(tables.contexts["text"]).take(once_per_cited)
    about, citing = times
    return [
        ("titles", arrow_texts(tables.papers["title"]), rows, about),
        ("abstracts", arrow_texts(tables.papers["abstract"]), rows, about),
    ], [("citing sentences", texts, cited, citing)]


def _paper_words(
    tables: IndexTables, offsets: np.ndarray, cited: np.ndarray, times: tuple[int, int]
) -> tuple[sparse.csr_array, pa.Array]:
    """Return (N, V) stems of title, abstract, citing sentences, and of bodies where there are."""
    rows = np.arange(tables.papers.num_rows)
    sources = [source for part in _sources(tables, offsets, cited, times) for source in part]
    if tables.bodies is not None:
        sources.append(("bodies", arrow_texts(tables.bodies["body"]), rows, 1))
    return sum_counts(sources, len(rows), stemmed=True)


def _context_bags(texts: pa.Array, vocabulary: pa.Array) -> tuple[sparse.csr_array, np.ndarray]:
    """Return (C, V) TF-IDF rows of length 1 and the (V,) idf: as :class:`TfIdf` weighs words."""
    from sklearn.feature_extraction.text import TfidfTransformer  # a second; only to build

    blocks = [
        count_matrix(texts[start : start + _BLOCK], vocabulary, stemmed=True)[0]
        for start in range(0, len(texts), _BLOCK)
    ]
    if not blocks:
        return sparse.csr_array((0, len(vocabulary))), np.ones(len(vocabulary))
    counts = sparse.vstack(blocks, format="csr").astype(np.float64)
    counts.sum_duplicates()
    transformer = TfidfTransformer(sublinear_tf=True)
    return sparse.csr_array(transformer.fit_transform(counts)), transformer.idf_
