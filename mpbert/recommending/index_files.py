"""The files of an index: an array each, as numpy writes and maps them.

A column of numbers is one file, ``papers.year.npy``. One of texts is two: their letters, UTF-8 of
all of them one after another, and the offsets at which they begin: ``papers.title.letters.npy`` and
``papers.title.offsets.npy``. One of lists has its ``offsets`` beside the column of its ``values``.
Letters may lie in two files, see :mod:`mpbert.recommending.kept_letters`.
"""

import math
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from mpbert.foundation.arrays import load_array, write_block, write_header
from mpbert.foundation.checksums import SummedFile
from mpbert.foundation.errors import IndexFormatError
from mpbert.foundation.growing_arrays import Lazy, release, slices
from mpbert.recommending.column_making import arrays_of
from mpbert.recommending.columns import (
    LISTS,
    TEXT,
    Column,
    ColumnTable,
    ListColumn,
    Schema,
    TextColumn,
)
from mpbert.recommending.kept_letters import keep_letters, kept_letters

_OFFSETS = 1 << 20  # that are checked at once
_LONG = "papers.title.letters", "papers.abstract.letters", "bodies.body.letters"  # may be kept


def write_table(folder: Path, name: str, table: ColumnTable, schema: Schema) -> dict[Path, str]:
    """Write a table into a folder; return the checksums of the files."""
    found: dict[Path, str] = {}
    for column in schema:
        for part, array in arrays_of(f"{name}.{column}", table[column]):
            arrays = keep_letters(folder, part, array) if part in _LONG else {part: array}
            for each in arrays.items():
                found |= save_arrays(folder, dict([each]))
    return found


def save_arrays(folder: Path, arrays: Mapping[str, np.ndarray | Lazy]) -> dict[Path, str]:
    """Write arrays as numpy does, side by side: what several are made of is worked out once.

    Of those that are mapped, memory holds a part at a time.

    :returns: the checksums of the files.
    """
    paths = [folder / f"{name}.npy" for name in arrays]
    with ExitStack() as opened:
        files = [
            SummedFile(
                opened.enter_context(path.open("wb")), array.dtype.itemsize * math.prod(array.shape)
            )
            for path, array in zip(paths, arrays.values(), strict=True)
        ]
        for file, array in zip(files, arrays.values(), strict=True):
            write_header(file, array.shape, array.dtype)
        for part in slices(*arrays.values()):
            for file, array in zip(files, arrays.values(), strict=True):
                if part.start < len(array):
                    write_block(file, array[part], array.dtype)
            release(*arrays.values())
    return {path: file.checksum for path, file in zip(paths, files, strict=True)}


def read_table(folder: Path, name: str, schema: Schema) -> ColumnTable:
    """Return a table of a folder, mapped.

    :raises IndexFormatError: a file is missing or damaged, or one does not fit the others.
    """
    columns = {column: _column(folder, f"{name}.{column}", schema[column]) for column in schema}
    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{column} {length:,}" for column, length in lengths.items())
        raise IndexFormatError(
            f"{folder}: found columns of {name} of different lengths ({found}); expected one, "
            f"build the index again"
        )
    return ColumnTable(columns)


def map_array(path: Path, kind: str, num_axes: int = 1) -> np.ndarray:
    """Return the array in a file, mapped.

    :param kind: of its numbers, as numpy names it.
    :raises IndexFormatError: it is missing or damaged, or of another kind.
    """
    try:
        found = np.asarray(load_array(path))  # a part of a memmap is slow to take
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise _damaged(path, reason) from error
    if found.dtype != np.dtype(kind) or found.ndim != num_axes:
        raise _damaged(
            path,
            f"found {found.ndim} axes of {found.dtype}, expected {num_axes} of {np.dtype(kind)}",
        )
    return found


def map_offsets(path: Path, total: int | None = None) -> np.ndarray:
    """Return the offsets in a file, mapped.

    :param total: the last of them; None: any.
    :raises IndexFormatError: they are missing or damaged, or do not ascend from 0 to there.
    """
    found = map_array(path, "<i8")
    if not len(found) or found[0] or not _ascend(found):
        raise _damaged(path, "found offsets that do not ascend from 0")
    if total is not None and found[-1] != total:
        raise _damaged(path, f"found offsets up to {found[-1]:,}, expected {total:,}")
    return found


def _ascend(offsets: np.ndarray) -> bool:
    for first in range(0, len(offsets), _OFFSETS):
        part = offsets[first : first + _OFFSETS + 1]
        if (part[1:] < part[:-1]).any():
            return False
        release(offsets)
    return True


def _column(folder: Path, name: str, kind: str) -> Column:
    if kind == TEXT:
        letters = _letters(folder, f"{name}.letters")
        return TextColumn(map_offsets(folder / f"{name}.offsets.npy", len(letters)), letters)
    if kind in LISTS:
        values = _column(folder, f"{name}.values", LISTS[kind])
        return ListColumn(map_offsets(folder / f"{name}.offsets.npy", len(values)), values)
    return map_array(folder / f"{name}.npy", kind)


def _letters(folder: Path, name: str) -> np.ndarray | Lazy:
    letters, runs = map_array(folder / f"{name}.npy", "u1"), folder / f"{name}.runs.npy"
    if not runs.exists():
        return letters
    later = map_array(folder / f"{name}.later.npy", "u1")
    found = kept_letters(letters, later, map_array(runs, "<i8", num_axes=2))
    if found is None:
        raise _damaged(runs, "found runs beyond the letters")
    return found


def _damaged(path: Path, reason: str) -> IndexFormatError:
    return IndexFormatError(f"{path}: missing or damaged ({reason}); build the index again")
