"""Files of Arrow, mapped and read with numpy alone: what an index needs to answer.

A file is ``ARROW1``, batches of rows, a footer and ``ARROW1`` again. The footer says the columns
and where the batches lie. A batch is a header, which says where the buffers of each column lie,
and these buffers. See https://arrow.apache.org/docs/format/Columnar.html; numbers of fields are
those of ``File.fbs``, ``Message.fbs`` and ``Schema.fbs``. Columns of other kinds than those of
:mod:`~mpbert.recommending.kinds`, and packed ones, are not read.
"""

import mmap
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from mpbert.recommending import kinds
from mpbert.recommending.column_making import empty_table
from mpbert.recommending.columns import Column, ColumnTable, ListColumn, RecordColumn, TextColumn
from mpbert.recommending.flat_tables import FlatTable
from mpbert.recommending.kinds import Kind, Schema

_MAGIC = b"ARROW1"
_LEAST = len(_MAGIC) + 2 + 4 + len(_MAGIC)  # bytes of a file
_PREFIX = 8  # bytes before the header of a batch: -1, and its size
_RECORD_BATCH = 3  # among the headers of messages


class ArrowFile:
    """A file of Arrow.

    :raises OSError: it cannot be opened.
    :raises ValueError: it is damaged, or holds what is not read here; so do all methods.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        data, end = self._data, len(self._data) - len(_MAGIC) - 4
        if len(data) < _LEAST or data[: len(_MAGIC)] != _MAGIC or data[end + 4 :] != _MAGIC:
            raise ValueError("found no file of Arrow")
        size = int.from_bytes(data[end : end + 4], "little")
        if size > end:
            raise ValueError("found no footer")
        self._footer = FlatTable.root(data[end - size : end])

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [field.text(0) for field in self._fields()]

    def has(self, schema: Schema) -> bool:
        """Return whether the columns are these."""
        return self.names() == list(schema) and _are_of(self._fields(), schema.values())

    def table(self, schema: Schema) -> ColumnTable:
        """Return all rows.

        :param schema: that of the file, see :meth:`has`.
        """
        blocks = self._footer.structs(3, "<qi4xq")
        tables = [self._batch(schema, *block) for block in blocks]
        return ColumnTable.joined(tables) if tables else empty_table(schema)

    def _fields(self) -> list[FlatTable]:
        schema = self._footer.table(1)
        if schema.number(0, "<h"):
            raise ValueError("found numbers of another order of bytes")
        return list(schema.tables(1))

    def _batch(self, schema: Schema, start: int, header_size: int, body_size: int) -> ColumnTable:
        body = start + header_size
        if not 0 <= start <= body <= body + body_size <= len(self._data):
            raise ValueError("found rows beyond the end")
        message = FlatTable.root(self._data[start + _PREFIX : body])
        batch = message.table(2)
        if message.number(1, "<B") != _RECORD_BATCH or batch.has(3):
            raise ValueError("found packed rows, or none")
        reader = _Batch(memoryview(self._data)[body : body + body_size], batch)
        columns = {name: reader.column(kind) for name, kind in schema.items()}
        if {len(column) for column in columns.values()} != {batch.number(0, "<q")}:
            raise ValueError("found columns of other lengths than their rows")
        return ColumnTable(columns)


class _Batch:
    """Reads the columns of a batch in their order: each takes its nodes and its buffers.

    :param body: the buffers, ``batch`` says where they lie.
    """

    def __init__(self, body: memoryview, batch: FlatTable) -> None:
        self._body = body
        self._nodes = iter(batch.structs(1, "<qq"))  # length, number of missing values
        self._buffers = iter(batch.structs(2, "<qq"))  # start, bytes

    def column(self, kind: Kind) -> Column:
        """Return the next column; a missing text is empty, and missing truth is false."""
        length, missing = _next(self._nodes)
        if length < 0:
            raise ValueError("found a column of less than no row")
        is_there = self._buffer()
        match kind.type_number:
            case kinds.TEXT_TYPE | kinds.LONG_TEXT_TYPE:
                form = "<i8" if kind == kinds.LONG_TEXT else "<i4"
                offsets = self._offsets(form, length)
                return TextColumn(offsets, _array(self._buffer(), "<u1", offsets[-1]))
            case kinds.RECORD:
                parts = {name: self.column(part) for name, part in kind.parts}
                if any(len(part) != length for part in parts.values()):
                    raise ValueError("found parts of records of other lengths than these")
                known = _bits(is_there, length) if missing else np.ones(length, dtype=bool)
                return RecordColumn(known, parts)
            case kinds.BOOLEAN_TYPE:
                return _bits(self._buffer(), length)
        if missing:
            raise ValueError("found missing numbers or lists")
        if kind.type_number == kinds.LIST:
            offsets = self._offsets("<i4", length)
            values = self.column(kind.parts[0][1])
            if len(values) != offsets[-1]:
                raise ValueError("found lists of other values than there are")
            return ListColumn(offsets, values)
        return _array(self._buffer(), kind.form, length)

    def _offsets(self, form: str, length: int) -> np.ndarray:
        """Return (length + 1,) offsets; those of no row may be left out."""
        buffer = self._buffer()
        if not length and not len(buffer):
            return np.zeros(1, dtype=form)
        offsets = _array(buffer, form, length + 1)
        if offsets[0] or (offsets[1:] < offsets[:-1]).any():
            raise ValueError("found offsets that do not ascend from 0")
        return offsets

    def _buffer(self) -> memoryview:
        start, size = _next(self._buffers)
        if not 0 <= start <= start + size <= len(self._body):
            raise ValueError("found a column beyond the end of its rows")
        return self._body[start : start + size]


def _next(numbers: Iterator[tuple[int, ...]]) -> tuple[int, ...]:
    found = next(numbers, None)
    if found is None:
        raise ValueError("found fewer columns than the file says")
    return found


def _array(buffer: memoryview, form: str, length: int) -> np.ndarray:
    """Return an array of so many numbers over a buffer, which may be longer."""
    if length * np.dtype(form).itemsize > len(buffer):
        raise ValueError("found a column shorter than its rows")
    return np.frombuffer(buffer, form, length) if length else np.zeros(0, form)


def _bits(buffer: memoryview, length: int) -> np.ndarray:
    found = _array(buffer, "<u1", -(-length // 8))
    return np.unpackbits(found, count=length, bitorder="little").view(bool)


def _are_of(fields: Sequence[FlatTable], expected: Collection[Kind]) -> bool:
    """Return whether fields of a schema are of these kinds."""
    return len(fields) == len(expected) and all(map(_is_of, fields, expected))


def _is_of(field: FlatTable, kind: Kind) -> bool:
    if field.number(2, "<B") != kind.type_number or field.has(4):  # 4: numbers of a dictionary
        return False
    if kind.size and field.table(3).number(0, "<i") != kind.size:
        return False
    if kind.type_number == kinds.INTEGER and not field.table(3).number(1, "<B"):  # no sign
        return False
    parts = list(field.tables(5))
    names = [part.text(0) for part in parts]
    return names == [name for name, _ in kind.parts] and _are_of(parts, [k for _, k in kind.parts])
