"""Columns of old and new rows, put together when they are read: memory holds a part of them."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np

from mpbert.foundation.growing_arrays import Lazy
from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.recommending.column_making import lists_of_rows, table_of
from mpbert.recommending.columns import Column, ColumnTable
from mpbert.recommending.tables import CONTEXTS, IndexTables


@dataclass(frozen=True)
class Runs:
    """What stands one after another of an old and a new array, as R runs of neighbours.

    :param is_new: (R,) whether a run is of the new array, whose ``first:end`` it is.
    """

    is_new: np.ndarray
    first: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, source: np.ndarray) -> "Runs":
        """Return the runs of (N,) rows: of the old array, or -1 - one of the new array."""
        is_new = source < 0
        places = np.where(is_new, -1 - source, source)
        begins = np.ones(len(source), dtype=bool)
        begins[1:] = (np.diff(places) != 1) | (is_new[1:] != is_new[:-1])
        first = np.flatnonzero(begins)
        last = np.append(first, len(source))[1:] - 1
        return cls(is_new[first], places[first], places[last] + 1)

    def array(self, old: np.ndarray | Lazy, new: np.ndarray | Lazy) -> "Spliced":
        """Return what stands there of two arrays."""
        return Spliced(self, old, new)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """(R,) places where runs begin that stand one after another, and where they end."""
        offsets = offsets_of(self.end - self.first)
        return offsets[:-1], offsets[1:]

    def column(self, old: Column | Lazy, new: Column | Lazy) -> Column | Lazy:
        """Return what stands there of two columns of one kind."""
        if isinstance(old, np.ndarray | Lazy):
            return self.array(old, new)
        inner = self._of_elements(old.offsets, new.offsets)
        offsets = np.empty(1 + self.bounds[1][-1:].sum(), dtype=np.int64)
        offsets[0] = 0
        each = (self.is_new, self.first, self.end, self.bounds[0], inner.bounds[0] - inner.first)
        for is_new, first, end, place, shift in zip(*(a.tolist() for a in each), strict=True):
            part = (new if is_new else old).offsets[first + 1 : end + 1]
            np.add(part, shift, out=offsets[place + 1 : place + 1 + end - first])
        return type(old)(offsets, inner.column(old.elements, new.elements))

    def table(self, old: ColumnTable, new: ColumnTable) -> ColumnTable:
        """Return what stands there of two tables; columns that the old one lacks are left out."""
        return ColumnTable({name: self.column(old[name], new[name]) for name in old.names})

    def _of_elements(self, old: np.ndarray, new: np.ndarray) -> "Runs":
        """Return the runs of what the rows hold, which begin at these offsets."""
        first, end = (
            np.where(self.is_new, new[rows * self.is_new], old[rows * ~self.is_new])
            for rows in (self.first, self.end)
        )
        return Runs(self.is_new, first, end)


class Spliced(Lazy):
    """What stands one after another of two arrays, as :class:`Runs` say."""

    def __init__(self, runs: Runs, old: np.ndarray | Lazy, new: np.ndarray | Lazy) -> None:
        self.runs = runs
        self._begins, self._ends = map(memoryview, runs.bounds)  # fast to read one of
        length = self._ends[-1] if len(self._ends) else 0
        super().__init__((length, *old.shape[1:]), old.dtype, self._between, (old, new))

    def _between(self, first: int, end: int) -> np.ndarray:
        runs, found = self.runs, [self.sources[0][:0]]
        for run in range(bisect_right(self._ends, first), bisect_left(self._begins, end)):
            start = runs.first[run] + max(first - self._begins[run], 0)
            stop = runs.end[run] - max(self._ends[run] - end, 0)
            found.append(self.sources[int(runs.is_new[run])][start:stop])
        return found[1] if len(found) == 2 else np.concatenate(found)


def moved_contexts(
    tables: IndexTables, row_of: np.ndarray, is_kept: np.ndarray, cites: np.ndarray | bool = True
) -> ColumnTable:
    """Return the contexts with other rows, without papers that are not kept.

    :param row_of: new row of each old one, ``is_kept`` whether it has one.
    :param cites: (C,) whether a context stays; True: all that cite a paper that is kept.
    """
    offsets, cited = tables.cited()
    citing = tables.contexts["citing_row"]
    owner = row_numbers(np.diff(offsets))
    stays = is_kept[cited] & np.broadcast_to(cites, len(citing))[owner]
    lengths = np.bincount(owner[stays], minlength=len(citing))
    kept = np.flatnonzero(lengths)
    columns = [
        row_of[citing[kept]],
        tables.contexts["position"][kept],
        tables.contexts["text"].take(kept),
        tables.contexts["around"].take(kept),
        lists_of_rows(lengths[kept], row_of[cited[stays]]),
    ]
    return table_of(columns, CONTEXTS)
