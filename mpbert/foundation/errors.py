"""Exceptions for wrong input: one line that says where, what was found and expected, what to do.

Full memory, of a GPU or of the machine, is told so, too.
"""

import errno
from collections.abc import Collection, Iterable
from itertools import islice

# what torch says in a RuntimeError, whose own kinds differ between its versions
_OF_GPU = (
    *("CUDA out of memory", "CUDA error: out of memory"),
    *("CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED"),
)
_OF_MACHINE = ("DefaultCPUAllocator: ", "Cannot allocate memory (12)")


def listed(names: Collection[str], most: int = 3) -> str:
    """Return the first names as a list that says how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(islice(names, most)) + more


def closest(name: str, known: Iterable[str], least: float = 0.6) -> str:
    """Return a hint at the known name that a wrong one is most like; empty: it is like none.

    :param least: likeness from 0 to 1, as difflib says.
    """
    import difflib  # a command that is not mistyped need not wait for it

    close = difflib.get_close_matches(name, known, 1, least)
    return f"; did you mean {close[0]!r}?" if close else ""


def printable(text: str) -> str:
    """Return a text as one line that any terminal shows; names may hold line ends and the like."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


class Terminated(KeyboardInterrupt):
    """SIGTERM came, wherever the work was; the command line alone catches it: exit code 143."""


class MpbertError(Exception):
    """Wrong input data, configuration or file; the command line prints it and exits with 2."""


class RowsFailedError(MpbertError):
    """Some rows of the report could not be made, and the others were; exit code 3."""


class FindingsError(MpbertError):
    """A check found what it was told to fail on, and printed it; exit code 3."""


class StoppedError(MpbertError):
    """SIGTERM ended the work at a place from which it goes on when started again; exit code 143."""


class ConfigError(MpbertError):
    """A flag, a configuration file or a combination of settings is wrong."""


class CorpusError(MpbertError):
    """A corpus, raw or built, is not what the command needs."""


class RunError(MpbertError):
    """A TREC run or qrels file is malformed, or names unknown queries or papers."""


class VectorsError(MpbertError):
    """A vectors directory or file is malformed, or does not fit its neighbours."""


class EncoderError(MpbertError):
    """An encoder directory is missing, incomplete or of another shape."""


class OutputError(MpbertError):
    """An output cannot be written: it exists with other settings, or the disk refuses it."""


class IndexFormatError(MpbertError):
    """A directory is no index of recommendations, or is damaged, or of another version."""


class ManuscriptError(MpbertError):
    """A manuscript, or the place in it, cannot be read or asked with."""


class UnknownPaperError(MpbertError):
    """An index does not hold a paper of this id."""


class MissingPackageError(MpbertError):
    """A package is not installed that only some commands need; see ``foundation.extras``."""


class FullMemoryError(MpbertError):
    """No more memory could be had, of a GPU or of the machine."""


class DamagedError(MpbertError):
    """A file is not as it was written, or of a format that this version does not read."""


class StoreUnavailableError(MpbertError):
    """A store of vectors does not answer now; the same question may be asked again."""


def full_memory(error: Exception) -> FullMemoryError | None:
    """Return the error that says what to do; None where memory was not full.

    :param error: any exception.
    """
    said = str(error) if isinstance(error, RuntimeError) else ""
    if any(words in said for words in _OF_GPU):
        place = "memory of the GPU"
    elif (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or any(words in said for words in _OF_MACHINE)
    ):
        place = "memory"
    else:
        return None
    return FullMemoryError(
        f"{place} is full; run fewer commands at the same time, or lower what this one takes at "
        f"once, such as the setting batch_tokens or batch of a method, then run this again"
    )
