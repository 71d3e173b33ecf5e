"""Cosines of the papers near a question, where a store proposes these.

Of the papers that the store proposes the cosines are exact. No other paper is nearer than the last
of these, unless the store missed one, so its cosine is a bound for all others. A score that grows
with the cosine then has a bound, too: a paper that its bound brings among the first is looked up,
until the first are exact. That is the threshold algorithm of Fagin, Lotem & Naor (2003, Sec. 4),
with one sorted list, and all else known.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mpbert.recommending.matching import cosines

if TYPE_CHECKING:  # what an index without a store need not wait for
    from mpbert.retrieval.stores.papers import PapersInStore

NEAREST = 1000  # papers that a store proposes


class Near:
    """Cosines of one question: exact of some papers, bounds of the others.

    :ivar values: (N,) float32; ``is_exact`` (N,) whether each is.
    """

    def __init__(self, vectors: np.ndarray, asked: np.ndarray, bound: float) -> None:
        self._vectors, self._asked = vectors, asked
        self.values = np.full(len(vectors), bound, dtype=np.float32)
        self.is_exact = np.zeros(len(vectors), dtype=bool)

    def settle(self, rows: np.ndarray) -> None:
        """Make the cosines of some papers exact, in place.

        :param rows: (M,) of papers.
        """
        self.values[rows] = cosines(self._vectors[rows], self._asked)
        self.is_exact[rows] = True


class NearPapers:
    """The papers of an index, proposed by a store.

    :param vectors: (N, D) of length 1, or 0 of a paper without a vector.
    :param rows: of papers that have one; ``years`` (N,) of all, 0 where a paper has none.
    """

    def __init__(
        self, stored: "PapersInStore", vectors: np.ndarray, rows: np.ndarray, years: np.ndarray
    ) -> None:
        self._stored, self._vectors = stored, vectors
        self._without = np.delete(np.arange(len(vectors)), rows)
        self._known = np.sort(years[rows])

    def of(self, asked: np.ndarray, year: int | None) -> Near:
        """Return the cosines of a question.

        Where the store proposes fewer papers than there are, all cosines are computed.

        :param asked: (D,) vector of length 1.
        :param year: papers of later years are none, so that their bound may be wrong.
        """
        num_papers = len(self._known)
        if year is not None:
            num_papers = int(np.searchsorted(self._known, year, side="right"))
        depth = min(NEAREST, num_papers)
        rows = np.zeros(0, dtype=np.int64)
        if depth:
            rows = self._stored.propose(asked[None], depth, year)[0]
        if (rows < 0).any():
            near = Near(self._vectors, asked, 0.0)
            near.settle(np.arange(len(self._vectors)))
            return near
        last = cosines(self._vectors[rows], asked).min(initial=1.0)
        near = Near(self._vectors, asked, last)
        near.settle(np.sort(np.concatenate([rows, self._without])))
        return near


def settled(
    scores: Callable[[], np.ndarray], nears: Sequence[Near], allowed: np.ndarray, depth: int
) -> np.ndarray:
    """Return (N,) scores of which the first are exact, and no other is above these.

    :param scores: computes them from the values of ``nears``; they grow with each.
    :param allowed: (N,) whether a paper may be ranked; ``depth`` how many are the first.
    """
    depth = min(depth, np.count_nonzero(allowed))
    while True:
        found = scores()
        if not nears or not depth:
            return found
        ranked = np.where(allowed, found, -np.inf)
        last = np.partition(ranked, len(ranked) - depth)[len(ranked) - depth]
        is_open = allowed & (ranked >= last)
        is_open &= ~np.logical_and.reduce([near.is_exact for near in nears])
        if not is_open.any():
            return found
        for near in nears:
            near.settle(np.flatnonzero(is_open))
