"""Rows of papers by their ids, without an object of Python for each."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np


def order_of(ids: Sequence[str]) -> np.ndarray:
    """Return (N,) the rows of ids in the order of their letters; equal ones as they stand."""
    texts = list(ids)
    return np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)


def rows_in_order(ids: Sequence[str], wanted: Iterable[str]) -> dict[str, int]:
    """Return the row of each of some ids that is there.

    :param ids: all different, in the order of their letters.
    """
    places = ((each, bisect_left(ids, each)) for each in dict.fromkeys(wanted))
    return {each: row for each, row in places if row < len(ids) and ids[row] == each}


class IdRows:
    """Finds rows by hashes of ids, which are of this process alone.

    :ivar ids: (N,) of papers, all different.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
        self.ids, self._order = ids, np.argsort(hashes)
        self._hashes = hashes[self._order]

    def find(self, paper_ids: Iterable[str]) -> dict[str, int]:
        """Return the row of each of some ids that is there."""
        texts = list(dict.fromkeys(paper_ids))
        hashes = np.fromiter(map(hash, texts), np.int64, len(texts))
        first, last = (np.searchsorted(self._hashes, hashes, side=s) for s in ("left", "right"))
        found: dict[str, int] = {}
        while len(left := np.flatnonzero(first < last)):  # twice where hashes collide
            for number, row in zip(left.tolist(), self._order[first[left]].tolist(), strict=True):
                if self.ids[row] == texts[number]:
                    found[texts[number]] = row
            first += 1
        return found
