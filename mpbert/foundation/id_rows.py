"""Rows of papers by their ids, without an object of Python for each."""

from collections.abc import Iterable, Sequence

import numpy as np


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
