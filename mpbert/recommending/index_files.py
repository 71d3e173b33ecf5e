"""The files of an index: tables as Arrow files, arrays as NPY files, all of them mapped."""

from pathlib import Path

import numpy as np

from mpbert.foundation.arrays import load_array
from mpbert.foundation.errors import IndexFormatError
from mpbert.recommending.arrow_reading import ArrowFile
from mpbert.recommending.columns import ColumnTable
from mpbert.recommending.kinds import Schema


def read_table(path: Path, schema: Schema) -> ColumnTable:
    """Return the table in a file, mapped.

    :raises IndexFormatError: it is missing or damaged, or has other columns.
    """
    try:
        file = ArrowFile(path)
        names, is_expected = file.names(), file.has(schema)
        table = file.table(schema) if is_expected else None
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from error
    if table is None:
        raise IndexFormatError(
            f"{path}: found the columns {', '.join(names)}; expected {', '.join(schema)}, build "
            f"the index again"
        )
    return table


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
