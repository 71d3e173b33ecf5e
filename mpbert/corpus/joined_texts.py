"""Texts of many papers that become one Arrow array: memory holds each of them once."""

import numpy as np
import pyarrow as pa


class JoinedTexts:
    """Texts one after the other in one buffer, which serves again after :meth:`clear`.

    ``pyarrow.concat_arrays`` would need all arrays at once, and hold all texts twice.
    ``size`` is the number of their bytes.
    """

    def __init__(self) -> None:
        self._letters = bytearray()  # keeps its size: memory is neither asked for nor given back
        self.clear()

    def clear(self) -> None:
        """Forget all texts."""
        self.size, self._ends = 0, [np.zeros(1, dtype=np.int32)]

    def add(self, texts: pa.StringArray) -> None:
        """Copy texts, none of them null, behind those that are there.

        :raises BufferError: there are arrays of :meth:`array`.
        """
        if not len(texts):
            return
        _, offsets, letters = texts.buffers()
        ends = np.frombuffer(offsets, np.int32)[texts.offset :][: len(texts) + 1]
        start, end = int(ends[0]), int(ends[-1])
        self._ends.append(ends[1:] + np.int32(self.size - start))
        self._letters[self.size : self.size + end - start] = memoryview(letters)[start:end]
        self.size += end - start

    def array(self) -> pa.StringArray:
        """Return all texts. It must be gone before more are added: it has no copy of them."""
        ends = np.concatenate(self._ends)
        letters = pa.py_buffer(self._letters).slice(0, self.size)
        return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), letters)
