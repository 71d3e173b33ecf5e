"""Columns and tables of values of Python, and of arrays by their names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from mpbert.foundation.growing_arrays import Lazy
from mpbert.foundation.ragged import offsets_of
from mpbert.recommending.columns import (
    INT32,
    LISTS,
    TEXT,
    Column,
    ColumnTable,
    ListColumn,
    Schema,
    TextColumn,
)


def column_of(values: Sequence[Any], kind: str) -> Column:
    """Return the column of values of Python."""
    if kind == TEXT:
        return TextColumn.of(values)
    if kind in LISTS:
        lengths = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
        together = list(chain.from_iterable(values))
        return ListColumn(offsets_of(lengths), column_of(together, LISTS[kind]))
    return np.asarray(values, dtype=kind)


def table_of(columns: Iterable[Sequence[Any] | Column], schema: Schema) -> ColumnTable:
    """Return the table of columns, or of their values, in the order of a schema."""
    found = zip(schema.items(), columns, strict=True)
    return ColumnTable({name: _as_column(values, kind) for (name, kind), values in found})


def lists_of_rows(lengths: np.ndarray, rows: np.ndarray) -> ListColumn:
    """Return the column of lists of rows that have these lengths."""
    return ListColumn(offsets_of(lengths), np.asarray(rows, dtype=INT32))


def empty_table(schema: Schema) -> ColumnTable:
    """Return a table without a row."""
    return table_of([()] * len(schema), schema)


def arrays_of(name: str, column: Column | Lazy) -> Iterator[tuple[str, np.ndarray | Lazy]]:
    """Yield the arrays of a column, each with its name, see ``recommending.index_files``."""
    if isinstance(column, np.ndarray | Lazy):
        yield name, column
        return
    yield f"{name}.offsets", column.offsets
    part = "letters" if isinstance(column, TextColumn) else "values"
    yield from arrays_of(f"{name}.{part}", column.elements)


def column_in(arrays: Mapping[str, np.ndarray], name: str, kind: str) -> Column:
    """Return the column that has these arrays."""
    if kind == TEXT:
        return TextColumn(arrays[f"{name}.offsets"], arrays[f"{name}.letters"])
    if kind in LISTS:
        values = column_in(arrays, f"{name}.values", LISTS[kind])
        return ListColumn(arrays[f"{name}.offsets"], values)
    return arrays[name]


def _as_column(values: Sequence[Any] | Column, kind: str) -> Column:
    return values if isinstance(values, TextColumn | ListColumn) else column_of(values, kind)
