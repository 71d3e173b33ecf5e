"""Cosines of the papers near a question, where a store proposes these.

Of the papers that the store proposes the cosines are exact. No other paper is nearer than the last
of these, unless the store missed one, so its cosine is a bound for all others. A score that grows
with the cosine then has a bound, too: a paper that its bound brings among the first is looked up,
until the first are exact. That is the threshold algorithm of Fagin, Lotem & Naor (2003, Sec. 4),
with one sorted list, and all else known.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mpbert.foundation.ragged import distinct
from mpbert.recommending.matching import cosines

if TYPE_CHECKING:  # what an index without a store need not wait for
    from mpbert.retrieval.stores.lists import ListsStore
    from mpbert.retrieval.stores.papers import PapersInStore

NEAREST = 1000  # papers that a store proposes


class Near:
    """Cosines of one question: exact of the nearest papers, bounds of the others.

    :param vectors: (N, D) of length 1, or 0 of a paper without a vector; ``asked`` (D,).
    :param rows: (M,) of the nearest papers, ascending; ``least`` the cosine of another, at least.
    :ivar cosines: (M,) of these; ``bound`` of all others.
    """

    def __init__(
        self, vectors: np.ndarray, asked: np.ndarray, rows: np.ndarray, least: float
    ) -> None:
        self._vectors, self._asked, self.rows = vectors, asked, rows
        self.cosines = self.of(rows)
        self.bound = max(float(self.cosines.min(initial=1.0)), least)

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Return (M,) exact cosines of some papers."""
        return cosines(self._vectors[rows], self._asked)

    @cached_property
    def values(self) -> np.ndarray:
        """(N,) float32 of all papers."""
        values = np.full(len(self._vectors), self.bound, dtype=np.float32)
        values[self.rows] = self.cosines
        return values

    @cached_property
    def is_exact(self) -> np.ndarray:
        """(N,) whether each of the values is."""
        is_exact = np.zeros(len(self._vectors), dtype=bool)
        is_exact[self.rows] = True
        return is_exact

    def settle(self, rows: np.ndarray) -> None:
        """Make the values of some papers exact, in place.

        :param rows: (M,) of papers.
        """
        self.values[rows] = self.of(rows)
        self.is_exact[rows] = True


class NearPapers:
    """The papers of an index, proposed by a store.

    :param vectors: (N, D) of length 1, or 0 of a paper without a vector.
    :param rows: of papers that have one; ``years`` (N,) of all, 0 where a paper has none.
    """

    def __init__(
        self,
        stored: "PapersInStore | ListsStore",
        vectors: np.ndarray,
        rows: np.ndarray,
        years: np.ndarray,
    ) -> None:
        self._stored, self._vectors, self._rows = stored, vectors, rows
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
        depth, rows = min(NEAREST, num_papers), np.zeros(0, dtype=np.int64)
        if depth:
            rows = distinct(self._stored.propose(asked[None], depth, year)[0])
        is_short = len(rows) < depth or (rows < 0).any()
        least = -1.0 if len(self._rows) == len(self._vectors) else 0.0  # of one without a vector
        return Near(self._vectors, asked, self._rows if is_short else rows, least)


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
