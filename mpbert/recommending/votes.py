"""Votes at a question: papers that were cited where it was said alike.

The known contexts that are nearest by BM25 vote for what they cite, as in
:mod:`mpbert.methods.lexical.bm25_contexts`, with the settings of its row.
"""

import numpy as np

from mpbert.foundation.ragged import ranges, row_numbers
from mpbert.methods.lexical.votes import NEIGHBOURS, SHARPNESS, votes_of
from mpbert.recommending.lookup import ContextWords
from mpbert.recommending.tables import IndexTables
from mpbert.retrieval.ranking import top_k


class ContextVotes:
    """The known contexts of an index, by their words.

    :param found: of the same tables.
    """

    def __init__(self, tables: IndexTables, found: ContextWords) -> None:
        self._postings = found.words
        self._offsets, self._cited = tables.cited()
        self._num_papers = tables.papers.num_rows

    def scores(self, columns: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return (N,) sums of votes; 0 for a paper that no near context cites.

        :param columns: (U,) stems of the question, ``counts`` (U,) how often each occurs.
        """
        num_contexts = len(self._offsets) - 1
        if not num_contexts:
            return np.zeros(self._num_papers)
        scores = self._postings.scores(columns, counts, num_contexts)
        near, best = top_k(scores[None], min(NEIGHBOURS, num_contexts), np.array([-1]))
        votes = votes_of(best[0], SHARPNESS)
        lengths = self._offsets[near[0] + 1] - self._offsets[near[0]]
        cited = self._cited[ranges(self._offsets[near[0]], lengths)]
        return np.bincount(cited, weights=votes[row_numbers(lengths)], minlength=self._num_papers)
