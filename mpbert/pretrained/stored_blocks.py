"""Arrays that are made block by block; what a killed run has finished is not made again."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from mpbert.foundation.progress import progress


class StoredBlocks:
    """Arrays in a folder of their own, with a note of how many blocks are finished.

    :param parts: the folder, for these arrays alone.
    """

    def __init__(self, parts: Path) -> None:
        self._parts, self._note = parts, parts / "finished.txt"
        self._arrays: list[np.memmap] = []
        is_begun = self._note.is_file()
        self._finished = int(self._note.read_text(encoding="utf-8")) if is_begun else 0

    def array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return a float16 array to fill, mapped into memory: ``NAME.npy``."""
        mode = "r+" if self._finished else "w+"
        made = np.lib.format.open_memmap(self.file(name), mode, np.float16, shape)
        self._arrays.append(made)
        return made

    def file(self, name: str) -> Path:
        """Return the file of an array."""
        return self._parts / f"{name}.npy"

    def fill(self, num_items: int, size: int, write: Callable[[slice], None], what: str) -> None:
        """Let a function write every block that is not finished.

        :param size: items of a block, which ``write`` is told as a slice.
        :param what: for the bar of progress.
        """
        for place in progress(range(self._finished, -(-num_items // size)), what, "block"):
            write(slice(place * size, min((place + 1) * size, num_items)))
            for array in self._arrays:
                array.flush()
            unfinished = self._note.with_suffix(".tmp")
            unfinished.write_text(str(place + 1), encoding="utf-8")
            unfinished.rename(self._note)
