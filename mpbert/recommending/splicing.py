"""Columns of old and new rows, put together when they are read: memory holds a part of them."""

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

    def array(self, old: np.ndarray | Lazy, new: np.ndarray | Lazy) -> Lazy:
        """Return what stands there of two arrays."""
        ends = np.cumsum(self.end - self.first)
        begins = ends - (self.end - self.first)

        def part(first: int, end: int) -> np.ndarray:
            found = [old[:0]]
            low, high = np.searchsorted(ends, first, "right"), np.searchsorted(begins, end)
            for run in range(low, high):
                start = self.first[run] + max(first - begins[run], 0)
                stop = self.end[run] - max(ends[run] - end, 0)
                found.append((new if self.is_new[run] else old)[start:stop])
            return found[1] if len(found) == 2 else np.concatenate(found)

        length = int(ends[-1]) if len(ends) else 0
        return Lazy((length, *old.shape[1:]), old.dtype, part, (old, new))

    def column(self, old: Column | Lazy, new: Column | Lazy) -> Column | Lazy:
        """Return what stands there of two columns of one kind."""
        if isinstance(old, np.ndarray | Lazy):
            return self.array(old, new)
        lengths = self.array(np.diff(old.offsets), np.diff(new.offsets))[:]
        inner = self._of_elements(old.offsets, new.offsets)
        return type(old)(offsets_of(lengths), inner.column(old.elements, new.elements))

    def table(self, old: ColumnTable, new: ColumnTable) -> ColumnTable:
        """Return what stands there of two tables; columns that the old one lacks are left out."""
        return ColumnTable({name: self.column(old[name], new[name]) for name in old.names})

    def _of_elements(self, old: np.ndarray, new: np.ndarray) -> "Runs":
        """Return the runs of what the rows hold, which begin at these offsets."""
        places, shift = np.concatenate([old, new]), self.is_new * len(old)
        return Runs(self.is_new, places[self.first + shift], places[self.end + shift])


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
