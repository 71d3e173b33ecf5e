"""Words of papers on disk, where those of all papers do not fit in memory.

An index of tantivy proposes papers by its own BM25, whose k1 and b are fixed. Ours scores them,
from counts of words in a mapped file. So no score is wrong; a paper that is not proposed is missed.
"""

import tempfile
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import tantivy
from scipy import sparse

from mpbert.corpus.bags import count_matrix
from mpbert.foundation.growing_arrays import Numbers
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.methods.lexical.bm25 import Bm25, idf, saturated
from mpbert.retrieval.ranking import num_ranked, top_k

PROPOSED, TIMES = 1000, 10  # papers that are scored: so many, and so many times those asked for
_HEAP = 128 << 20  # bytes that tantivy collects before it writes


class WordsOnDisk:
    """An index of papers by their words; its files lie in ``TMPDIR`` and are deleted with it.

    :param method: what the words weigh.
    :param blocks: (n,) years and (n, V) counts of words of n papers, and the (V,) words.
    """

    def __init__(
        self, method: Bm25, blocks: Iterable[tuple[np.ndarray, sparse.csr_array, pa.Array]]
    ) -> None:
        self._method = method
        self._folder = tempfile.TemporaryDirectory(prefix="mpbert-words-")
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        schema.add_integer_field("row", fast=True)
        schema.add_integer_field("year", indexed=True, fast=True)
        self._schema = schema.build()
        self._vocabulary = pa.array([], pa.large_string())
        self._num_holding = np.zeros(0, np.int64)  # papers that hold each word
        self._write(blocks)

    def _write(self, blocks: Iterable[tuple[np.ndarray, sparse.csr_array, pa.Array]]) -> None:
        index = tantivy.Index(self._schema, self._folder.name)
        writer = index.writer(_HEAP, num_threads=1)
        columns, counts = Numbers(np.int32), Numbers(np.int32)  # of the words of each paper
        lengths, num_distinct = Numbers(np.int64), Numbers(np.int64)
        row = 0
        for years, of_papers, words in blocks:
            of_block = self._columns_of(words)[of_papers.indices]
            self._count(of_block)
            columns.extend(of_block)
            counts.extend(of_papers.data)
            lengths.extend(of_papers.sum(axis=1))
            num_distinct.extend(np.diff(of_papers.indptr))
            for text, year in zip(_texts(of_papers, words), years.tolist(), strict=True):
                writer.add_document(tantivy.Document(words=text, row=row, year=year))
                row += 1
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()
        self._columns, self._counts = columns.array(), counts.array()
        self._lengths, self._offsets = lengths.array(), offsets_of(num_distinct.array())
        self._mean_length = self._lengths.mean()

    def _columns_of(self, words: pa.Array) -> np.ndarray:
        """Return (V,) columns of the words of a block, new ones behind those that are known."""
        new = words.filter(pc.invert(pc.is_in(words, value_set=self._vocabulary)))
        self._vocabulary = pa.concat_arrays([self._vocabulary, new.cast(pa.large_string())])
        return pc.index_in(words, value_set=self._vocabulary).to_numpy()

    def _count(self, columns: np.ndarray) -> None:
        found = np.bincount(columns, minlength=len(self._vocabulary))
        found[: len(self._num_holding)] += self._num_holding
        self._num_holding = found

    def search(
        self,
        texts: Sequence[str],
        k: int,
        excluded_rows: np.ndarray,
        last_years: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k papers of largest score for each query text, best first.

        A paper that shares no word with a query is not ranked.

        :param texts: (Q,) query texts.
        :param excluded_rows: (Q,) row of the citing paper, which is no candidate, or -1.
        :param last_years: (Q,) the last year whose papers are candidates; None: all papers are.
        :returns: (Q, K) rows, -1 beyond the end of a list, and (Q, K) scores, -inf there; K is
            smaller than k where the papers are too few.
        """
        k = num_ranked(k, len(self._lengths), excluded_rows)
        rows = np.full((len(texts), k), -1, dtype=np.int64)
        scores = np.full((len(texts), k), -np.inf)
        counts, _ = count_matrix(pa.array(texts, pa.string()), self._vocabulary, stemmed=True)
        weights = np.zeros(len(self._vocabulary))  # of the words of one query at a time
        for query in progress(range(len(texts)), "lexical search", "text"):
            of_query = slice(*counts.indptr[query : query + 2])
            columns, times = counts.indices[of_query], counts.data[of_query]
            year = None if last_years is None else int(last_years[query])
            found = self._proposed(columns, times, max(PROPOSED, TIMES * k) + 1, year)
            found = found[found != excluded_rows[query]]
            weights[columns] = times * idf(self._num_holding[columns], len(self._lengths))
            of_found = self._scores(weights, found)
            weights[columns] = 0.0
            num = min(k, len(found))
            if num:
                places, best = top_k(of_found[None], num, np.array([-1]))
                rows[query, :num], scores[query, :num] = found[places[0]], best[0]
        return rows, scores

    def _proposed(
        self, columns: np.ndarray, times: np.ndarray, limit: int, last_year: int | None
    ) -> np.ndarray:
        """Return, ascending, rows of the papers that tantivy finds best for a query."""
        words = self._vocabulary.take(pa.array(columns)).to_pylist()
        terms = [tantivy.Query.term_query(self._schema, "words", word) for word in words]
        parts = [
            (tantivy.Occur.Should, tantivy.Query.boost_query(term, float(number)))
            for term, number in zip(terms, times, strict=True)
        ]
        query = tantivy.Query.boolean_query(parts)
        if last_year is not None:
            known = tantivy.Query.range_query(
                self._schema, "year", tantivy.FieldType.Integer, None, last_year
            )
            known = tantivy.Query.const_score_query(known, 0.0)
            query = tantivy.Query.boolean_query(
                [(tantivy.Occur.Must, query), (tantivy.Occur.Must, known)]
            )
        hits = self._searcher.search(query, limit, count=False).hits
        found = self._searcher.fast_field_values("row", [address for _, address in hits])
        return np.sort(np.array(found, dtype=np.int64))

    def _scores(self, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return (M,) BM25 scores of papers.

        :param weights: (V,) what each word weighs in the query: its count and its idf.
        """
        num_words = self._offsets[rows + 1] - self._offsets[rows]
        places = ranges(self._offsets[rows], num_words)
        of_rows = row_numbers(num_words)
        lengths = self._lengths[rows] / self._mean_length
        parts = saturated(self._counts[places], lengths[of_rows], self._method.k1, self._method.b)
        parts *= weights[self._columns[places]]
        return np.bincount(of_rows, parts, minlength=len(rows))


def _texts(counts: sparse.csr_array, words: pa.Array) -> list[str]:
    """Return the words of each paper, as often as it holds them, with spaces between."""
    columns = pa.array(np.repeat(counts.indices, counts.data))
    ends = np.concatenate([[0], np.cumsum(counts.data)])[counts.indptr]
    of_papers = words.cast(pa.string()).take(columns)
    lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), of_papers)
    return pc.binary_join(lists, " ").to_pylist()
