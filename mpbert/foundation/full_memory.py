"""Memory that is full, of a GPU or of the machine: told in one line, as wrong input is."""

from mpbert.foundation.errors import FullMemoryError

# what torch says in a RuntimeError, whose own kinds differ between its versions
_OF_GPU = ("CUDA out of memory", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED")
_OF_MACHINE = ("DefaultCPUAllocator: ",)


def full_memory(error: Exception) -> FullMemoryError | None:
    """Return the error that says what to do; None where memory was not full.

    :param error: any exception.
    """
    said = str(error) if isinstance(error, RuntimeError) else ""
    if any(words in said for words in _OF_GPU):
        place = "memory of the GPU"
    elif isinstance(error, MemoryError) or any(words in said for words in _OF_MACHINE):
        place = "memory"
    else:
        return None
    return FullMemoryError(
        f"{place} is full; run fewer commands at the same time, or lower settings such as "
        f"batch_tokens, batch and longest, then run this again"
    )
