"""Words of papers on disk, where those of all papers do not fit in memory.

An index of tantivy proposes papers by its own BM25, whose k1 and b are fixed. Ours scores them,
from counts of words in a mapped file. So no score is wrong; a paper that is not proposed is missed.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from mpbert.corpus.bags import count_matrix
from mpbert.foundation.errors import OutputError
from mpbert.foundation.growing_arrays import Numbers
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import budget_batches, offsets_of, ranges, row_numbers
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.bm25_formulas import half_counts, idf, saturated
from mpbert.retrieval.ranking import num_ranked, top_k

T = TypeVar("T")
PROPOSED, TIMES = 1000, 10  # papers that are scored: so many, and so many times those asked for
_HEAP = 128 << 20  # bytes that tantivy collects before it writes
_WORDS = 1 << 22  # of the texts that it gets at once


class WordsOnDisk:
    """An index of papers by their words, of which the files lie in ``TMPDIR``.

    A word of more than 65,530 bytes is not indexed, and proposes no paper.

    :param method: what the words weigh.
    :param blocks: (n,) years and (n, V) counts of words of n papers, and the (V,) words.
    :raises OutputError: ``TMPDIR`` is full, or cannot be written to.
    :ivar num_bytes: of the files.
    :ivar num_stems: V, of all blocks.
    """

    def __init__(
        self, method: Bm25, blocks: Iterable[tuple[np.ndarray, sparse.csr_array, pa.Array]]
    ) -> None:
        import tantivy

        self._method, self._tantivy = method, tantivy
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        schema.add_integer_field("row", fast=True)
        schema.add_integer_field("year", fast=True)
        self._schema = schema.build()
        self._vocabulary = pa.array([], pa.large_string())
        self._num_holding = np.zeros(0, np.int64)  # papers that hold each word
        names = {"prefix": "mpbert-words-", "ignore_cleanup_errors": True}
        with tempfile.TemporaryDirectory(**names) as folder:
            self._write(Path(folder), blocks)

    @property
    def num_stems(self) -> int:
        """Number of distinct stems."""
        return len(self._vocabulary)

    def _write(
        self, folder: Path, blocks: Iterable[tuple[np.ndarray, sparse.csr_array, pa.Array]]
    ) -> None:
        index = _done(self._tantivy.Index, self._schema, str(folder))
        writer = _done(index.writer, _HEAP, 1)
        columns, counts = Numbers(np.int32), Numbers(np.int32)  # of the words of each paper
        lengths, num_distinct = Numbers(np.int64), Numbers(np.int64)
        row = 0
        for years, of_papers, words in blocks:
            found = self._numbered(of_papers, words)
            columns.extend(found.indices)
            counts.extend(found.data)
            lengths.extend(found.sum(axis=1))
            num_distinct.extend(np.diff(found.indptr))
            for text, year in zip(_texts(of_papers, words), years.tolist(), strict=True):
                document = self._tantivy.Document(words=text, row=row, year=year)
                _done(writer.add_document, document)
                row += 1
        _done(writer.commit)
        _done(writer.wait_merging_threads)
        index.reload()
        self._searcher = index.searcher()  # it has opened the files, which need no names any more
        self._columns, self._counts = columns.array(), counts.array()
        self._lengths, self._offsets = lengths.array(), offsets_of(num_distinct.array())
        self._mean_length = self._lengths.mean() if row else 0.0
        of_tantivy = sum(path.stat().st_size for path in folder.rglob("*"))
        self.num_bytes = of_tantivy + self._columns.nbytes + self._counts.nbytes

    def _numbered(self, of_papers: sparse.csr_array, words: pa.Array) -> sparse.csr_array:
        """Return (n, V) counts of a block, with columns of all blocks, ascending in each paper.

        So papers of the same words have the same sums, to the last digit.
        """
        known = pc.index_in(words, value_set=self._vocabulary)
        is_new = known.is_null().to_numpy(zero_copy_only=False)
        columns = known.fill_null(0).to_numpy().astype(np.int32)
        columns[is_new] = len(self._vocabulary) + np.arange(is_new.sum())
        new = words.filter(pa.array(is_new)).cast(pa.large_string())
        self._vocabulary = pa.concat_arrays([self._vocabulary, new])
        # a copy: to sort it would shuffle the counts of the block
        parts = of_papers.data.copy(), columns[of_papers.indices], of_papers.indptr
        found = sparse.csr_array(parts, shape=(of_papers.shape[0], len(self._vocabulary)))
        found.sort_indices()
        num_holding = np.bincount(found.indices, minlength=len(self._vocabulary))
        num_holding[: len(self._num_holding)] += self._num_holding
        self._num_holding = num_holding
        return found

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
        Query, Occur = self._tantivy.Query, self._tantivy.Occur
        words = self._vocabulary.take(pa.array(columns)).to_pylist()
        terms = [Query.term_query(self._schema, "words", word) for word in words]
        parts = [
            (Occur.Should, Query.boost_query(term, float(number)))
            for term, number in zip(terms, times, strict=True)
        ]
        query = Query.boolean_query(parts)
        if last_year is not None:
            known = Query.range_query(
                self._schema, "year", self._tantivy.FieldType.Integer, None, last_year
            )
            known = Query.const_score_query(known, 0.0)
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, known)])
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
        lengths, method = self._lengths[rows][of_rows], self._method
        counts = self._counts[places]
        half = half_counts(lengths, self._mean_length, method.k1, method.b)
        parts = saturated(counts, half)
        parts *= weights[self._columns[places]]
        return np.bincount(of_rows, parts, minlength=len(rows))


def _done(act: Callable[..., T], *arguments: object) -> T:
    """Let tantivy write; it raises errors of several types."""
    try:
        return act(*arguments)
    except (OSError, ValueError) as error:
        raise OutputError(
            f"{tempfile.gettempdir()}: words cannot be written there ({error}); set TMPDIR to a "
            f"folder with more space"
        ) from error


def _texts(counts: sparse.csr_array, words: pa.Array) -> Iterator[str]:
    """Yield the words of each paper, as often as it holds them, with spaces between."""
    words = words.cast(pa.string())
    ends = np.concatenate([[0], np.cumsum(counts.data)])[counts.indptr]
    for papers in budget_batches(np.diff(ends), np.arange(counts.shape[0]), _WORDS, None):
        part = slice(counts.indptr[papers[0]], counts.indptr[papers[-1] + 1])
        columns = np.repeat(counts.indices[part], counts.data[part])
        offsets = ends[papers[0] : papers[-1] + 2] - ends[papers[0]]
        lists = pa.ListArray.from_arrays(
            pa.array(offsets, pa.int32()), words.take(pa.array(columns))
        )
        yield from pc.binary_join(lists, " ").to_pylist()
