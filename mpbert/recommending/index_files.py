"""The files of an index: tables as Arrow files, arrays as NPY files, all of them mapped."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from mpbert.foundation.arrays import load_array
from mpbert.foundation.errors import IndexFormatError


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table in one chunk."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def read_table(path: Path, schema: pa.Schema) -> pa.Table:
    """Return the table in a file, mapped, in one chunk.

    :raises IndexFormatError: it is missing or damaged, or has other columns.
    """
    try:
        table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    except (OSError, pa.ArrowException) as error:
        raise _damaged(path, error) from error
    if table.schema != schema:
        raise IndexFormatError(
            f"{path}: found the columns {', '.join(table.schema.names)}; expected "
            f"{', '.join(schema.names)}, build the index again"
        )
    return table.combine_chunks()


def map_array(path: Path) -> np.ndarray:
    """Return the array in a file, mapped.

    :raises IndexFormatError: it is missing or damaged.
    """
    try:
        return np.asarray(load_array(path))  # a part of a memmap is slow to take
    except (OSError, ValueError, EOFError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> IndexFormatError:
    reason = getattr(error, "strerror", None) or " ".join(str(error).split())
    return IndexFormatError(f"{path}: missing or damaged ({reason}); build the index again")
