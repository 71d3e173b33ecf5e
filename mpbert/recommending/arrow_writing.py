"""Tables as pyarrow has them: to write them, and to count their words. What answers needs none."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from mpbert.recommending import kinds
from mpbert.recommending.columns import Column, ColumnTable, ListColumn, RecordColumn, TextColumn
from mpbert.recommending.kinds import Kind, Schema

_TYPES = {
    kinds.TEXT: pa.string(),
    kinds.LONG_TEXT: pa.large_string(),
    kinds.BOOLEAN: pa.bool_(),
    kinds.INT32: pa.int32(),
    kinds.SHA256: pa.binary(kinds.SHA256.size),
}


def write_table(path: Path, table: ColumnTable, schema: Schema) -> None:
    """Write a table as a file of Arrow, all rows together."""
    arrays = [_array(table[name], kind) for name, kind in schema.items()]
    made = pa.table(arrays, schema=pa.schema([(n, _type(kind)) for n, kind in schema.items()]))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, made.schema) as writer:
        writer.write_table(made)


def arrow_texts(texts: TextColumn) -> pa.LargeStringArray:
    """Return the same texts, whose letters lie where they lay."""
    buffers = [
        None,
        pa.py_buffer(texts.offsets.astype(np.int64, copy=False)),
        pa.py_buffer(texts.letters),
    ]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def _array(column: Column, kind: Kind) -> pa.Array:
    if isinstance(column, TextColumn):
        return arrow_texts(column).cast(_type(kind))
    if isinstance(column, ListColumn):
        offsets = pa.array(column.offsets, pa.int32())
        return pa.ListArray.from_arrays(offsets, _array(column.values, kind.parts[0][1]))
    if isinstance(column, RecordColumn):
        parts = [_array(column.parts[name], part) for name, part in kind.parts]
        missing = None if column.is_known.all() else pa.array(~column.is_known)
        return pa.StructArray.from_arrays(parts, fields=list(_type(kind)), mask=missing)
    if kind.type_number == kinds.BYTES:
        buffers = [None, pa.py_buffer(np.ascontiguousarray(column))]
        return pa.Array.from_buffers(_type(kind), len(column), buffers)
    return pa.array(column, _type(kind))


def _type(kind: Kind) -> pa.DataType:
    if kind.type_number == kinds.LIST:
        return pa.list_(_type(kind.parts[0][1]))
    if kind.type_number == kinds.RECORD:
        return pa.struct([(name, _type(part)) for name, part in kind.parts])
    return _TYPES[kind]
