"""Tables that grow in temporary files: memory does not grow with them."""

import numpy as np

from mpbert.foundation.growing_arrays import Numbers
from mpbert.recommending.columns import (
    LISTS,
    TEXT,
    ColumnTable,
    ListColumn,
    Schema,
    TextColumn,
)

_BLOCK = 1 << 15  # rows that are in memory


class GrowingTable:
    """Rows of tables, one table after another."""

    def __init__(self, schema: Schema) -> None:
        self._columns = {name: _growing(kind) for name, kind in schema.items()}

    def extend(self, table: ColumnTable) -> None:
        """Add the rows of a table that has these columns."""
        for name, column in self._columns.items():
            column.extend(table[name])

    def table(self) -> ColumnTable:
        """Return all rows, mapped."""
        return ColumnTable({name: column.array() for name, column in self._columns.items()})


def interleaved(
    old: ColumnTable, new: ColumnTable, source: np.ndarray, schema: Schema
) -> ColumnTable:
    """Return rows of two tables, mapped; columns that the first lacks are left out.

    :param source: (N,) a row of ``old``, or -1 - a row of ``new``.
    """
    found = GrowingTable({name: kind for name, kind in schema.items() if name in old})
    for first in range(0, len(source), _BLOCK):
        part = source[first : first + _BLOCK]
        is_new = part < 0
        block = old.take(part[~is_new])
        if is_new.any():
            block = ColumnTable.joined([block, new.take(-1 - part[is_new])])
            block = block.take(np.argsort(np.argsort(is_new, kind="stable"), kind="stable"))
        found.extend(block)
    return found.table()


class GrowingColumn:
    """A column of texts or lists that grows.

    :param values: of all rows; of texts, their letters.
    """

    def __init__(self, values: "Numbers | GrowingColumn") -> None:
        self._values, self._offsets, self._end = values, Numbers(np.int64), 0
        self._offsets.extend([0])

    def extend(self, column: TextColumn | ListColumn) -> None:
        """Add the rows of a column."""
        values = column.letters if isinstance(column, TextColumn) else column.values
        self._values.extend(values)
        self._offsets.extend(column.offsets[1:] + self._end)
        self._end += len(values)

    def array(self) -> TextColumn | ListColumn:
        """Return all rows, mapped."""
        offsets, values = self._offsets.array(), self._values.array()
        is_list = isinstance(self._values, GrowingColumn) or values.dtype != np.uint8
        return (ListColumn if is_list else TextColumn)(offsets, values)


def _growing(kind: str) -> Numbers | GrowingColumn:
    if kind in LISTS:
        return GrowingColumn(_growing(LISTS[kind]))
    return GrowingColumn(Numbers(np.uint8)) if kind == TEXT else Numbers(np.dtype(kind))
