"""Vectors of the sentences that were read last: questions on one manuscript share most of them."""

from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np

_MOST = 4096  # sentences that are remembered: 6 MiB of 384 dimensions


class LatestVectors:
    """Remembers vectors by text; threads may share it.

    :param encode: (K,) texts -> (K, E) vectors, of which none depends on the others.
    :param most: sentences to remember; the oldest are forgotten first.
    """

    def __init__(self, encode: Callable[[Sequence[str]], np.ndarray], most: int = _MOST) -> None:
        self._encode, self._most = encode, most
        self._known: dict[str, np.ndarray] = {}
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return (K, E) vectors; only texts that are not remembered are read."""
        distinct = dict.fromkeys(texts)
        with self._lock:
            found = {text: self._known[text] for text in distinct if text in self._known}
        new = [text for text in distinct if text not in found]
        if new or not found:
            made = self._encode(new)
            found |= zip(new, made, strict=True)
            if not found:
                return made
        with self._lock:
            for text in distinct:  # what was used last stays longest
                self._known.pop(text, None)
                self._known[text] = found[text]
            for text in list(self._known)[: max(len(self._known) - self._most, 0)]:
                del self._known[text]
        return np.stack([found[text] for text in texts])
