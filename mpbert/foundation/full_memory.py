"""Memory that is full, of a GPU or of the machine: told in one line, as wrong input is."""

import errno

from mpbert.foundation.errors import FullMemoryError

# what torch says in a RuntimeError, whose own kinds differ between its versions
_OF_GPU = (
    *("CUDA out of memory", "CUDA error: out of memory"),
    *("CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED"),
)
_OF_MACHINE = ("DefaultCPUAllocator: ", "Cannot allocate memory (12)")


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
