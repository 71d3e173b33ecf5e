"""Columns of the tables of an index: arrays of numpy, in Arrow's layout, so that files are mapped.

A column of numbers is an array; so is one of bytes, all of one length. Other columns are classes
here. All have a length, and a value by row.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Union

import numpy as np

from mpbert.foundation.errors import IndexFormatError
from mpbert.foundation.ragged import offsets_of, ranges

_BLOCK = 1024  # texts that are read at once
Column = Union[np.ndarray, "TextColumn", "ListColumn", "RecordColumn"]


class TextColumn:
    """A column of texts; a missing one is empty.

    :param offsets: (N + 1,) whole numbers from 0: text i begins at the letter ``offsets[i]``.
    :param letters: (M,) uint8, UTF-8 of all texts, one after another.
    """

    def __init__(self, offsets: np.ndarray, letters: np.ndarray) -> None:
        self.offsets, self.letters = offsets, letters
        self._view = memoryview(letters)

    @classmethod
    def of(cls, texts: Sequence[str]) -> "TextColumn":
        """Return the column of these texts."""
        encoded = [text.encode() for text in texts]
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        return cls(offsets_of(lengths), np.frombuffer(b"".join(encoded), dtype=np.uint8))

    @classmethod
    def empty(cls, number: int) -> "TextColumn":
        """Return a column of so many empty texts."""
        return cls(np.zeros(number + 1, dtype=np.int64), np.zeros(0, dtype=np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        row = range(len(self))[row]  # an error outside of the column
        return _decoded(self._view[self.offsets[row] : self.offsets[row + 1]])

    def tolist(self) -> list[str]:
        """Return all texts."""
        texts: list[str] = []
        for start in range(0, len(self), _BLOCK):
            bounds = self.offsets[start : start + _BLOCK + 1]
            letters = self.letters[bounds[0] : bounds[-1]]
            together, places = _decoded(memoryview(letters)), bounds - bounds[0]
            if len(together) < len(letters):  # characters of several bytes
                places = offsets_of((letters & 0xC0) != 0x80)[places]
            texts += [together[first:last] for first, last in pairwise(places.tolist())]
        return texts

    def take(self, rows: np.ndarray) -> "TextColumn":
        """Return the texts of some rows."""
        starts, ends = self.offsets[:-1][rows], self.offsets[1:][rows]
        offsets = offsets_of(ends - starts)
        found = TextColumn(offsets, np.empty(offsets[-1], dtype=np.uint8))
        bounds = starts, ends, offsets[:-1], offsets[1:]
        for start, end, first, last in zip(*(each.tolist() for each in bounds), strict=True):
            found._view[first:last] = self._view[start:end]
        return found

    @property
    def lengths(self) -> np.ndarray:
        """(N,) bytes of each text."""
        return np.diff(self.offsets)


class ListColumn:
    """A column of lists.

    :param offsets: (N + 1,) whole numbers from 0: list i begins at the value ``offsets[i]``.
    :param values: those of all lists, one after another.
    """

    def __init__(self, offsets: np.ndarray, values: "np.ndarray | TextColumn") -> None:
        self.offsets, self.values = offsets, values

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> list[Any]:
        row = range(len(self))[row]
        return [self.values[place] for place in range(self.offsets[row], self.offsets[row + 1])]

    def take(self, rows: np.ndarray) -> "ListColumn":
        """Return the lists of some rows."""
        lengths = np.diff(self.offsets)[rows]
        values = taken(self.values, ranges(self.offsets[:-1][rows], lengths))
        return ListColumn(offsets_of(lengths), values)


class RecordColumn:
    """A column of records, None where nothing is known.

    :param is_known: (N,) whether there is a record.
    :param parts: name -> (N,) column.
    """

    def __init__(
        self, is_known: np.ndarray, parts: "Mapping[str, np.ndarray | TextColumn]"
    ) -> None:
        self.is_known, self.parts = is_known, dict(parts)

    def __len__(self) -> int:
        return len(self.is_known)

    def __getitem__(self, row: int) -> dict[str, Any] | None:
        if not self.is_known[row]:
            return None
        return {name: part[row] for name, part in self.parts.items()}

    def part(self, name: str, row: int) -> Any:
        """Return one value of a record; None where nothing is known, or the table has no such."""
        return self.parts[name][row] if name in self.parts and self.is_known[row] else None

    def tolist(self) -> list[dict[str, Any] | None]:
        """Return all records."""
        return [self[row] for row in range(len(self))]

    def take(self, rows: np.ndarray) -> "RecordColumn":
        """Return the records of some rows."""
        parts = {name: taken(part, rows) for name, part in self.parts.items()}
        return RecordColumn(self.is_known[rows], parts)


class ColumnTable:
    """Columns of one length.

    :param columns: name -> column, in their order.
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)
        (self.num_rows,) = {len(column) for column in self._columns.values()}

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def row(self, row: int) -> dict[str, Any]:
        """Return the values of a row."""
        return {name: column[row] for name, column in self._columns.items()}

    def take(self, rows: np.ndarray) -> "ColumnTable":
        """Return some rows."""
        return ColumnTable({name: taken(column, rows) for name, column in self._columns.items()})

    def with_columns(self, columns: Mapping[str, Column]) -> "ColumnTable":
        """Return the same with other columns, or with more behind them."""
        return ColumnTable(self._columns | dict(columns))

    @classmethod
    def joined(cls, tables: "Sequence[ColumnTable]") -> "ColumnTable":
        """Return the rows of tables that have the same columns, one table after another.

        :param tables: one at least; the columns of one alone stay where they lie.
        """
        if len(tables) == 1:
            return tables[0]
        names = tables[0]._columns
        return cls({name: joined([table[name] for table in tables]) for name in names})


def taken(column: Column, rows: np.ndarray) -> Column:
    """Return some rows of a column."""
    return column[rows] if isinstance(column, np.ndarray) else column.take(rows)


def joined(columns: Sequence[Column]) -> Column:
    """Return the values of columns of one kind, one column after another."""
    first = columns[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(columns)
    if isinstance(first, TextColumn):
        letters = np.concatenate([column.letters for column in columns])
        return TextColumn(_joined_offsets(columns), letters)
    if isinstance(first, ListColumn):
        return ListColumn(_joined_offsets(columns), joined([column.values for column in columns]))
    parts = {name: joined([column.parts[name] for column in columns]) for name in first.parts}
    return RecordColumn(np.concatenate([column.is_known for column in columns]), parts)


def _joined_offsets(columns: "Sequence[TextColumn | ListColumn]") -> np.ndarray:
    return offsets_of(np.concatenate([np.diff(column.offsets) for column in columns]))


def _decoded(letters: memoryview) -> str:
    try:
        return str(letters, "utf-8")
    except UnicodeDecodeError as error:
        raise IndexFormatError(
            f"found a text that is no UTF-8 ({error.reason}) in a table; build the index again"
        ) from error
