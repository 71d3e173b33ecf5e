"""Arrays that memory does not hold: numbers on disk that grow, and slices that are worked out."""

import math
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from mpbert.foundation.errors import OutputError

_BYTES = 1 << 20  # of a block of an array


class Numbers:
    """A growing array in a temporary file without a name, in the folder of such files.

    :param kind: of numpy, of each number.
    """

    def __init__(self, kind: type) -> None:
        self._kind, self._file, self._count = np.dtype(kind), _nameless(), 0

    def extend(self, numbers: Iterable[Any]) -> None:
        """Add some at the end.

        :raises OutputError: the folder of temporary files cannot be written to.
        """
        added = np.asarray(numbers, self._kind)
        with _told():
            self._file.write(added.tobytes())
        self._count += added.size

    def array(self) -> np.ndarray:
        """Return (N,) all numbers, mapped from the file; errors as of :meth:`extend`."""
        with _told():
            self._file.flush()
        if not self._count:
            return np.zeros(0, self._kind)
        return np.memmap(self._file, self._kind, mode="r", shape=(self._count,))


def room_on_disk(shape: tuple[int, ...], kind: type) -> np.ndarray:
    """Return an array to fill, mapped from a temporary file without a name, whose place is taken.

    A full disk would end the process without a word if its place were taken as it is filled.

    :raises OutputError: the folder of temporary files has not that much.
    """
    with _told():
        file = _nameless()
        take_place(file, max(math.prod(shape) * np.dtype(kind).itemsize, 1))
        return np.memmap(file, kind, "r+", shape=shape)


def _nameless() -> IO[bytes]:
    import tempfile  # an answer makes no such file, and need not wait for it

    return tempfile.TemporaryFile()


def take_place(file: IO[bytes], size: int) -> None:
    """Let a file have so many bytes, for which there is place on the disk.

    :raises OSError: there is not.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        import tempfile

        raise OutputError(
            f"{tempfile.gettempdir()}: cannot be written to ({error.strerror}); set TMPDIR to a "
            f"folder with more space"
        ) from error


class Lazy:
    """An array of which a slice is worked out when it is asked for, and kept until the next is.

    :param part: from first and end of a slice of the first axis to that slice.
    :param sources: arrays that it reads.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype,
        part: Callable[[int, int], np.ndarray],
        sources: "Sequence[np.ndarray | Lazy]",
    ) -> None:
        self.shape, self.dtype, self._part, self.sources = shape, np.dtype(dtype), part, sources
        self._last: tuple[tuple[int, int], np.ndarray] | None = None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, asked: int | slice) -> Any:
        if not isinstance(asked, slice):
            return self._part(asked, asked + 1)[0]
        first, end, _ = asked.indices(len(self))
        bounds = first, max(first, end)
        last = self._last  # of another thread, perhaps, meanwhile
        if last is None or last[0] != bounds:
            self._last = last = bounds, self._part(*bounds)
        return last[1]


def blocks(array: np.ndarray | Lazy) -> Iterator[np.ndarray]:
    """Yield all of an array, some rows at a time; what was read of a mapped one is given back."""
    for part in slices(array):
        yield array[part]
        release(array)


def slices(*arrays: np.ndarray | Lazy) -> Iterator[slice]:
    """Yield slices that take all of some arrays together, some rows at a time."""
    row = max(array.dtype.itemsize * math.prod(array.shape[1:]) for array in arrays)
    step = max(_BYTES // max(row, 1), 1)
    for first in range(0, max(map(len, arrays)), step):
        yield slice(first, first + step)


def mapped(array: Lazy) -> np.ndarray:
    """Return an array, worked out once."""
    numbers = Numbers(array.dtype)
    for block in blocks(array):
        numbers.extend(block)
    return numbers.array()


def release(*arrays: "np.ndarray | Lazy") -> None:
    """Give back the memory of the pages of mapped arrays that were read; they can be read again.

    Without this, pages that are read once stay until memory is short.
    """
    if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        for owner in {id(each): each for array in arrays for each in _mapped(array)}.values():
            owner.madvise(mmap.MADV_DONTNEED)


def _mapped(array: "np.ndarray | Lazy") -> Iterator[mmap.mmap]:
    if isinstance(array, Lazy):
        for source in array.sources:
            yield from _mapped(source)
    owner: object = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, mmap.mmap):
        yield owner
