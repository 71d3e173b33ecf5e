"""Columns and tables of values of Python."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from mpbert.foundation.ragged import offsets_of
from mpbert.recommending import kinds
from mpbert.recommending.columns import Column, ColumnTable, ListColumn, RecordColumn, TextColumn
from mpbert.recommending.kinds import Kind, Schema


def column_of(values: Sequence[Any], kind: Kind) -> Column:
    """Return the column of values; those of records are objects that have the parts."""
    match kind.type_number:
        case kinds.TEXT_TYPE | kinds.LONG_TEXT_TYPE:
            return TextColumn.of(values)
        case kinds.LIST:
            lengths = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
            together = list(chain.from_iterable(values))
            return ListColumn(offsets_of(lengths), column_of(together, kind.parts[0][1]))
        case kinds.RECORD:
            parts = {n: column_of([getattr(v, n) for v in values], part) for n, part in kind.parts}
            return RecordColumn(np.ones(len(values), dtype=bool), parts)
        case kinds.BOOLEAN_TYPE:
            return np.asarray(values, dtype=bool)
    return np.asarray(values, dtype=kind.form)


def table_of(columns: Iterable[Sequence[Any] | Column], schema: Schema) -> ColumnTable:
    """Return the table of columns, or of their values, in the order of a schema."""
    found = zip(schema.items(), columns, strict=True)
    return ColumnTable({name: _as_column(values, kind) for (name, kind), values in found})


def lists_of_rows(lengths: np.ndarray, rows: np.ndarray) -> ListColumn:
    """Return the column of lists of rows that have these lengths."""
    return ListColumn(offsets_of(lengths), np.asarray(rows, dtype=kinds.INT32.form))


def empty_table(schema: Schema) -> ColumnTable:
    """Return a table without a row."""
    return table_of([()] * len(schema), schema)


def _as_column(values: Sequence[Any] | Column, kind: Kind) -> Column:
    is_one = isinstance(values, TextColumn | ListColumn | RecordColumn)
    return values if is_one else column_of(values, kind)
