"""Columns of the tables of an index: arrays of numpy, which files hold as they are.

A column of numbers is an array; so is one of bytes, all of one length. Other columns are classes
here. All have a length, and a value by row.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Union

import numpy as np

from mpbert.foundation.errors import IndexFormatError
from mpbert.foundation.growing_arrays import Lazy, release
from mpbert.foundation.ragged import offsets_of, taken_rows

_BLOCK, _BYTES = 1 << 14, 1 << 22  # texts that are read at once, and their bytes
Column = Union[np.ndarray, "TextColumn", "ListColumn"]
TEXT = "text"  # kind of a column of texts; others are kinds of numpy, of a number or bytes
INT32, SHA256 = "<i4", "V32"
TEXTS, ROWS, CODES = "texts", "rows", "codes"
LISTS = {TEXTS: TEXT, ROWS: INT32, CODES: "<u2"}  # kinds of columns of lists, and of what they hold
Schema = dict[str, str]  # of a table: its columns and their kinds, in their order


class TextColumn:
    """A column of texts; a missing one is empty.

    :param offsets: (N + 1,) whole numbers from 0: text i begins at the letter ``offsets[i]``.
    :param letters: (M,) uint8, UTF-8 of all texts, one after another.
    """

    def __init__(self, offsets: np.ndarray, letters: np.ndarray | Lazy) -> None:
        self.offsets, self.letters = offsets, letters
        self._view = memoryview(letters) if isinstance(letters, np.ndarray) else letters
        self._bounds = memoryview(offsets)  # fast to read one of
        self._number = len(offsets) - 1

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
        return self._number

    def __getitem__(self, row: int) -> str:
        return _decoded(self.encoded(row))

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self.blocks())

    def bytes_at(self, row: int) -> bytes:
        """Return a text in UTF-8."""
        return bytes(self.encoded(row))

    def encoded(self, row: int) -> memoryview:
        """Return the same where it lies."""
        if not 0 <= row < self._number:
            row = range(self._number)[row]  # from the end, or an error outside of the column
        return self._view[self._bounds[row] : self._bounds[row + 1]]

    def blocks(self) -> Iterator[list[str]]:
        """Yield all texts, some at a time: memory need not hold all, nor what was mapped."""
        start = 0
        while start < len(self):
            most = np.searchsorted(self.offsets, self.offsets[start] + _BYTES, side="right") - 1
            end = min(max(int(most), start + 1), start + _BLOCK, len(self))
            yield self._between(start, end)
            release(self.letters)
            start = end

    def tolist(self) -> list[str]:
        """Return all texts."""
        return list(self)

    def _between(self, start: int, end: int) -> list[str]:
        bounds = self.offsets[start : end + 1]
        letters = self.letters[bounds[0] : bounds[-1]]
        together, places = _decoded(memoryview(letters)), bounds - bounds[0]
        if len(together) < len(letters):  # characters of several bytes
            places = offsets_of((letters & 0xC0) != 0x80)[places]
        return [together[first:last] for first, last in pairwise(places.tolist())]

    def take(self, rows: np.ndarray) -> "TextColumn":
        """Return the texts of some rows."""
        rows = np.asarray(rows, dtype=np.int64)
        first = np.flatnonzero(np.diff(rows, prepend=-2) != 1)  # of runs of neighbours
        last = np.append(first, len(rows))[1:] - 1
        offsets = offsets_of(self.offsets[1:][rows] - self.offsets[:-1][rows])
        found = TextColumn(offsets, np.empty(offsets[-1], dtype=np.uint8))
        bounds = (
            *(self.offsets[rows[first]], self.offsets[rows[last] + 1]),
            *(offsets[first], offsets[last + 1]),
        )
        for start, end, first, last in zip(*(each.tolist() for each in bounds), strict=True):
            found._view[first:last] = self._view[start:end]
        release(self.letters)
        return found

    @property
    def lengths(self) -> np.ndarray:
        """(N,) bytes of each text."""
        return np.diff(self.offsets)

    @property
    def elements(self) -> np.ndarray:
        """What rows are made of."""
        return self.letters


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
        start, end = self.offsets[row : row + 2].tolist()
        return [self.values[place] for place in range(start, end)]

    def tolist(self) -> list[list[Any]]:
        """Return all lists."""
        values = self.values.tolist()
        return [values[first:last] for first, last in pairwise(self.offsets.tolist())]

    def take(self, rows: np.ndarray) -> "ListColumn":
        """Return the lists of some rows."""
        offsets, places = taken_rows(self.offsets, rows)
        return ListColumn(offsets, taken(self.values, places))

    @property
    def elements(self) -> "np.ndarray | TextColumn":
        """What rows are made of."""
        return self.values


class ColumnTable:
    """Columns of one length.

    :param columns: name -> column, in their order.
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)
        self.names = list(self._columns)
        (self.num_rows,) = {len(column) for column in self._columns.values()}

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self._columns

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
        letters = np.concatenate([column.letters[:] for column in columns])
        return TextColumn(_joined_offsets(columns), letters)
    return ListColumn(_joined_offsets(columns), joined([column.values for column in columns]))


def _joined_offsets(columns: "Sequence[TextColumn | ListColumn]") -> np.ndarray:
    return offsets_of(np.concatenate([np.diff(column.offsets) for column in columns]))


def _decoded(letters: memoryview) -> str:
    try:
        return str(letters, "utf-8")
    except UnicodeDecodeError as error:
        raise IndexFormatError(
            f"found a text that is no UTF-8 ({error.reason}) in a table; mpbert check names the "
            f"file of the index that is damaged, build it again"
        ) from error
