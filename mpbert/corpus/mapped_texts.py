"""A column of texts in temporary files that are mapped: memory does not grow with it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mpbert.foundation.errors import CorpusError
from mpbert.foundation.growing_arrays import Numbers


def mapped_column(path: Path, name: str) -> pa.LargeStringArray:
    """Return a column of a Parquet file as one array: its bytes lie uncompressed in ``TMPDIR``.

    A group of rows at a time is in memory. The files have no name, and are deleted with the array.

    :param name: of a column of texts, none of them null.
    :raises CorpusError: the file cannot be read.
    """
    letters, ends = Numbers(np.uint8), Numbers(np.int64)
    ends.extend([0])
    size = 0
    for texts in _groups(path, name):
        _, offsets, data = texts.buffers()
        of_group = np.frombuffer(offsets, np.int64)[texts.offset :][: len(texts) + 1]
        start, end = int(of_group[0]), int(of_group[-1])
        letters.extend(np.frombuffer(data or b"", np.uint8)[start:end])
        ends.extend(of_group[1:] + (size - start))
        size += end - start
    offsets = ends.array()
    data = pa.py_buffer(letters.array())
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), data)


def _groups(path: Path, name: str) -> Iterator[pa.LargeStringArray]:
    try:
        file = pq.ParquetFile(path, memory_map=True)
        for group in range(file.num_row_groups):
            yield from file.read_row_group(group, [name])[name].cast(pa.large_string()).chunks
    except (OSError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise CorpusError(f"{path}: unreadable ({reason}); build the corpus again") from error
