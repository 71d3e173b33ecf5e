"""Training contexts by the paper that they cite, as far as a manuscript may know them."""

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers


class TrainingContexts:
    """The citations of training contexts, paper after paper.

    :ivar contexts: (C,) number of the context of each citation.
    :ivar counts: (N,) citations of each paper.
    """

    def __init__(self, store: CorpusStore) -> None:
        training = store.contexts("train")
        order = np.argsort(training.cited_rows, kind="stable")
        self.contexts = row_numbers(np.diff(training.cited_offsets))[order]
        self._owners, self._years = training.citing_rows[self.contexts], store.years
        self.counts = np.bincount(training.cited_rows, minlength=store.num_papers)

    def of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return places in ``contexts`` of all that cites each paper, and (M,) how many.

        :param rows: (M,) of papers.
        """
        counts = self.counts[rows]
        return ranges(offsets_of(self.counts)[:-1][rows], counts), counts

    def known(self, rows: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return places in ``contexts`` of what cites each paper, and (M,) how many.

        None is of the query's own paper, or of one that is newer.

        :param rows: (M,) of papers.
        :param own: (M,) row of the paper of each query.
        """
        places, counts = self.of(rows)
        pair = row_numbers(counts)
        owners = self._owners[places]
        known = (owners != own[pair]) & (self._years[owners] <= self._years[own[pair]])
        return places[known], np.bincount(pair[known], minlength=len(rows))
