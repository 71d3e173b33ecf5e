"""Arrays in ``.npy`` files, which may come from strangers: no pickle, and one kind of error."""

from pathlib import Path
from tokenize import TokenError

import numpy as np

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
