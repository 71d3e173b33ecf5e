"""Arrays in ``.npy`` files, which may come from strangers: no pickle, and one kind of error."""

from collections.abc import Iterable
from pathlib import Path
from tokenize import TokenError
from typing import IO, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

# what numpy raises where the header of a file is no Python literal, or one of absurd sizes
_BROKEN = (SyntaxError, TokenError, TypeError, LookupError, OverflowError, MemoryError, EOFError)


def load_array(path: Path) -> np.ndarray:
    """Return the array in a file, mapped into memory, read-only.

    :raises OSError: the file cannot be opened.
    :raises ValueError: it holds no array of numbers.
    """
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (*_BROKEN, AttributeError, RecursionError) as error:
        raise ValueError(f"broken header ({type(error).__name__})") from error
    if not isinstance(found, np.ndarray):  # an archive of several
        raise ValueError("found an archive, expected one array")
    return found


def write_array(
    file: IO[bytes], shape: tuple[int, ...], kind: "DTypeLike", blocks: Iterable[np.ndarray]
) -> None:
    """Write the bytes of :func:`numpy.save` of an array that comes in blocks, first axis first.

    :param kind: of the numbers in the file; blocks may be of another.
    """
    write_header(file, shape, kind)
    for block in blocks:
        write_block(file, block, kind)


def write_header(file: IO[bytes], shape: tuple[int, ...], kind: "DTypeLike") -> None:
    """Write what stands before the numbers of an array."""
    descr = np.lib.format.dtype_to_descr(np.dtype(kind))
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def write_block(file: IO[bytes], block: np.ndarray, kind: "DTypeLike") -> None:
    """Write some numbers of an array, see :func:`write_array`."""
    file.write(np.ascontiguousarray(block, kind).data)
