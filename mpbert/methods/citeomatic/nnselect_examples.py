"""What NNSelect learns from: training queries, and which papers may be negatives of each.

And the words of the training sentences that cite each paper, all of them or without a manuscript's.
A manuscript that is learnt from must not find a paper by its own sentences: at test time no
sentence of the query's manuscript is known to any paper.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from scipy import sparse

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.ragged import row_numbers
from mpbert.methods.citeomatic.field_bags import CONTEXT, jaccard_similarity, word_counts
from mpbert.methods.citeomatic.triplets import TripletSampler, cited_matrix, percentile_per_row
from mpbert.methods.rankings import places_of


class TripletExamples:
    """Training queries of one task, with what may be sampled for them.

    :ivar manuscripts: (Q,) row of the paper of each query.
    :param fields: (Q, V) counts of each field of the queries.
    :param papers: (N, V) counts of each field of all papers.
    :param citations: (N, N) of training papers: row cites column.
    :param pool: (M,) rows of the training papers.
    :param percentile: 0 to 100, see the rule of App. C.
    """

    def __init__(
        self,
        queries: Queries,
        fields: Sequence[sparse.csr_array],
        papers: Sequence[sparse.csr_array],
        citations: sparse.csr_array,
        pool: np.ndarray,
        percentile: float,
    ) -> None:
        self.fields, self.manuscripts = fields, queries.citing_rows
        cited = cited_matrix(queries, citations.shape[0])
        self.sampler = TripletSampler(cited, queries.citing_rows, citations, pool, whole=True)
        texts = slice(CONTEXT + 1)  # App. C compares titles and abstracts
        self._words = sum(fields[texts]).tocsr(), sum(papers[texts]).tocsr()
        query, paper = self.sampler.pairs
        order = np.argsort(query, kind="stable")
        lengths = np.bincount(query, minlength=len(queries))
        similarities = jaccard_similarity(*self._words, query[order], paper[order])
        self._limits = percentile_per_row(similarities, lengths, percentile)

    def __len__(self) -> int:
        return len(self._limits)

    def is_unlike(self, query: np.ndarray, paper: np.ndarray) -> np.ndarray:
        """Return (P,) whether a neighbour shares few enough words with the query: App. C."""
        return jaccard_similarity(*self._words, query, paper) < self._limits[query]


class CitingWords:
    """Counts of the words of citing sentences.

    :param vocabulary: (V,) words to count.
    :ivar counts: (N, V) of all training sentences that cite each paper.
    """

    def __init__(self, store: CorpusStore, vocabulary: pa.Array) -> None:
        training = store.contexts("train")
        rows = store.sentence_offsets[training.citing_rows] + training.positions
        sentences = word_counts(store.sentence_texts(rows), vocabulary)  # (C, V)
        context = row_numbers(np.diff(training.cited_offsets))
        self._num_papers = store.num_papers
        keys = self._keys(training.citing_rows[context], training.cited_rows)
        self._pairs, pair = np.unique(keys, return_inverse=True)
        ones = np.ones(len(context), dtype=np.float32)
        shape = len(self._pairs), len(training)
        self._of_pairs = sparse.csr_array((ones, (pair, context)), shape) @ sentences
        shape = store.num_papers, len(training)
        self.counts = sparse.csr_array((ones, (training.cited_rows, context)), shape) @ sentences

    def of_manuscripts(self, manuscripts: np.ndarray, papers: np.ndarray) -> sparse.csr_array:
        """Return (M, V) counts of the sentences of a manuscript that cite a paper.

        :param manuscripts: (M,) rows, -1 for none; ``papers`` (M,) rows.
        """
        pair = places_of(self._pairs, self._keys(manuscripts, papers))
        has = np.flatnonzero(pair >= 0)
        ones = np.ones(len(has), dtype=np.float32)
        shape = len(pair), len(self._pairs)
        return sparse.csr_array((ones, (has, pair[has])), shape) @ self._of_pairs

    def _keys(self, manuscripts: np.ndarray, papers: np.ndarray) -> np.ndarray:
        return manuscripts.astype(np.int64) * self._num_papers + papers
