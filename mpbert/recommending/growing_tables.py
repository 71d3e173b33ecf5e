"""Tables that grow in temporary files: memory does not grow with them."""

import numpy as np

from mpbert.foundation.growing_arrays import Numbers
from mpbert.recommending.columns import LISTS, TEXT, ColumnTable, ListColumn, Schema, TextColumn


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


class GrowingColumn:
    """A column of texts or lists that grows.

    :param values: of all rows; of texts, their letters.
    """

    def __init__(self, values: "Numbers | GrowingColumn") -> None:
        self._values, self._offsets, self._end = values, Numbers(np.int64), 0
        self._offsets.extend([0])

    def extend(self, column: TextColumn | ListColumn) -> None:
        """Add the rows of a column."""
        self._values.extend(column.elements)
        self._offsets.extend(column.offsets[1:] + self._end)
        self._end += len(column.elements)

    def array(self) -> TextColumn | ListColumn:
        """Return all rows, mapped."""
        offsets, values = self._offsets.array(), self._values.array()
        is_list = isinstance(self._values, GrowingColumn) or values.dtype != np.uint8
        return (ListColumn if is_list else TextColumn)(offsets, values)


def _growing(kind: str) -> Numbers | GrowingColumn:
    if kind in LISTS:
        return GrowingColumn(_growing(LISTS[kind]))
    return GrowingColumn(Numbers(np.uint8)) if kind == TEXT else Numbers(np.dtype(kind))
