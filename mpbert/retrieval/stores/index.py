"""Search of a store, with exact scores: the dense index whose candidates a server proposes.

What may happen is that a paper is missed. Where the server proposes too few, as for candidates
that no year tells from the others, all are searched exactly.
"""

import math
from collections.abc import Sequence

import numpy as np

from mpbert.retrieval.dense import DenseIndex
from mpbert.retrieval.stores.base import Mark
from mpbert.retrieval.stores.papers import papers_in_store
from mpbert.vectors.normal import normalized

_SPARE = 32  # papers proposed beyond the cutoff


class StoreIndex(DenseIndex):
    """All papers by their vectors, which stay mapped; a store proposes candidates.

    :param url: of the store; ``mark`` what its collection has to hold.
    :param ids: N ids of the papers; ``years`` (N,) of them.
    :raises StoreUnavailableError: the store does not answer.
    """

    def __init__(
        self,
        vectors: np.ndarray,
        similarity: str,
        url: str,
        mark: Mark,
        ids: Sequence[str],
        years: np.ndarray,
    ) -> None:
        self._years = years
        super().__init__(vectors, similarity)
        self._stored = papers_in_store(url, mark, ids, years, self._rows, self._unit)

    def _choose(self, papers: np.ndarray) -> None:
        super()._choose(papers)
        self._last = int(self._years[papers].max(initial=0))
        num_proposed = np.count_nonzero((self._years <= self._last) & self._has_vector)
        self._excess = num_proposed / max(len(self._rows), 1)  # beside each candidate

    def search(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most similar papers of each query that were found, best first.

        As :meth:`DenseIndex.search`. Queries for which too few are proposed are searched exactly.
        """
        k = self._num_ranked(k, excluded_rows)
        needed = min(k + 1, len(self._rows))
        depth = math.ceil((needed + _SPARE) * self._excess)
        if not k or depth > self._stored.most:
            return super().search(queries, k, excluded_rows)
        proposed = self._stored.propose(normalized(queries), depth, self._last)
        is_wanted = (proposed >= 0) & self._is_candidate[proposed]
        numbers = is_wanted.sum(axis=1)
        is_full = numbers >= needed
        order = np.argsort(~is_wanted[is_full], axis=1, kind="stable")  # candidates first
        found = np.take_along_axis(proposed[is_full], order, axis=1)
        width = numbers[is_full].min(initial=depth)
        return self._rank_found(queries, k, excluded_rows, found[:, :width], is_full)
