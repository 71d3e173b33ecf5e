"""Vectors of tokens in a file, of which a short text needs few."""

from functools import cached_property
from typing import Any

import numpy as np

from mpbert.foundation.ragged import distinct

_SINGLE = 1024  # rows that are read one by one before all are, which takes as long


class TokenVectors:
    """The (V, D) vectors of tokens in a file.

    :param part: of the file, as safetensors has it: rows of it can be read.
    """

    def __init__(self, part: Any) -> None:
        self._part, self._left = part, _SINGLE

    def of(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (M, D) float32 vectors, and (N,) which of them are those of (N,) tokens."""
        if self._left > 0:
            kept = distinct(tokens)
            self._left -= len(kept)
            if self._left >= 0:
                rows = [self._part[row : row + 1] for row in kept.tolist()]
                rows = np.concatenate([self._part[:0], *rows])
                return rows.astype(np.float32, copy=False), kept.searchsorted(tokens)
        return self.all, tokens

    @cached_property
    def all(self) -> np.ndarray:
        """All of them, float32."""
        return self._part[:].astype(np.float32, copy=False)
