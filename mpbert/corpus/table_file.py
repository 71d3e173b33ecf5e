"""A Parquet table that is written as its rows come, and texts that become one column of it."""

from pathlib import Path
from types import TracebackType

import numpy as np
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


class JoinedTexts:
    """Texts one after the other in one buffer, which serves again after :meth:`clear`.

    ``pyarrow.concat_arrays`` would need all arrays at once, and hold all texts twice.
    ``size`` is the number of their bytes.
    """

    def __init__(self) -> None:
        self._letters = bytearray()  # keeps its size: memory is neither asked for nor given back
        self.clear()

    def clear(self) -> None:
        """Forget all texts."""
        self.size, self._ends = 0, [np.zeros(1, dtype=np.int32)]

    def add(self, texts: list[str]) -> None:
        """Copy texts behind those that are there.

        :raises BufferError: there are arrays of :meth:`array`.
        """
        if not len(texts):
            return
        encoded = [text.encode() for text in texts]
        ends = self.size + np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        self._ends.append(ends.astype(np.int32))
        end = int(ends[-1])
        self._letters[self.size : end] = b"".join(encoded)
        self.size = end

    def array(self) -> pa.StringArray:
        """Return all texts. It must be gone before more are added: it has no copy of them."""
        ends = np.concatenate(self._ends)
        letters = pa.py_buffer(self._letters).slice(0, self.size)
        return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), letters)
