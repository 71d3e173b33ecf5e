"""Vectors of the sentences that were read last: questions on one manuscript share most of them."""

from collections.abc import Callable, Sequence

import numpy as np

from mpbert.foundation.latest import Latest

_MOST = 4096  # sentences that are remembered, the last: 6 MiB of 384 dimensions


class LatestVectors:
    """Remembers vectors by text; threads may share it.

    :param encode: (K,) texts -> (K, E) vectors, of which none depends on the others.
    """

    def __init__(self, encode: Callable[[Sequence[str]], np.ndarray]) -> None:
        self._encode = encode
        self._latest: Latest[np.ndarray] = Latest(encode, _MOST)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return (K, E) vectors; only texts that are not remembered are read."""
        return np.stack(self._latest.of(texts)) if len(texts) else self._encode(texts)
