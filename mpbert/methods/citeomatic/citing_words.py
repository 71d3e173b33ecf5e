"""The words of the training sentences that cite each paper, all of them or without a manuscript's.

A manuscript that is learnt from must not find a paper by its own sentences: at test time no
sentence of the query's manuscript is known to any paper.
"""

import numpy as np
import pyarrow as pa
from scipy import sparse

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import row_numbers
from mpbert.methods.citeomatic.field_bags import word_counts
from mpbert.methods.rankings import places_of


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
