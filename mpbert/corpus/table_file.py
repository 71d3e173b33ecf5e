"""A Parquet table that is written as its rows come."""

from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq


class TableFile:
    """A file of a table; its bytes do not depend on the parts in which rows are added.

    :param group: rows that are written together; so many wait in memory.
    """

    def __init__(self, directory: Path, name: str, schema: pa.Schema, group: int) -> None:
        self._schema, self._waiting, self._rows, self._groups = schema, [schema.empty_table()], 0, 0
        self._group = group
        path = directory / f"{name}.parquet"
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")

    def __enter__(self) -> "TableFile":
        return self

    def add(self, *columns: object) -> None:
        """Add rows."""
        table = pa.table(list(columns), schema=self._schema)
        self._waiting.append(table)
        self._rows += len(table)
        while self._rows >= self._group:
            self._write(self._group)

    def _write(self, rows: int) -> None:
        waiting = pa.concat_tables(self._waiting)
        self._writer.write_table(waiting.slice(0, rows).combine_chunks())
        self._waiting, self._groups = [waiting.slice(rows)], self._groups + 1
        self._rows -= rows

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if kind is None and (self._rows or not self._groups):
            self._write(self._rows)
        self._writer.close()
