"""Sentences of papers on disk until a corpus store is written: they are most of a corpus.

They are written as they come, in Arrow's own form, and then mapped into memory: what is not being
read costs none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

_SCHEMA = pa.schema([("text", pa.string())])


class SpilledSentences:
    """Arrays of strings in a file, in the order of writing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = pa.ipc.new_file(pa.OSFile(str(path), "wb"), _SCHEMA)
        self._number = 0

    def add(self, sentences: pa.Array) -> int:
        """Write the sentences of a paper; return the number under which they are found."""
        self._writer.write_batch(pa.record_batch([sentences], schema=_SCHEMA))
        self._number += 1
        return self._number - 1

    def seal(self) -> None:
        """End writing and map the file."""
        self._writer.close()
        self._reader = pa.ipc.open_file(pa.memory_map(str(self._path)))

    def get(self, number: int) -> pa.Array:
        """Return the sentences of a paper, as a view of the file."""
        return self._reader.get_batch(number).column(0)


@contextmanager
def spilled_sentences(directory: Path) -> Iterator[SpilledSentences]:
    """Open a file in a directory; its name goes with the block, what it holds with the views."""
    path = directory / "sentences.arrow"
    try:
        yield SpilledSentences(path)
    finally:
        path.unlink(missing_ok=True)
