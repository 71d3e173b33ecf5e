"""What was worked out for the texts that came last: questions on one manuscript share sentences."""

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class Latest(Generic[V]):
    """Remembers a value by text; threads may share it.

    :param make: (K,) distinct texts -> (K,) values, of which none depends on the others.
    :param most: texts to remember; the oldest are forgotten first.
    """

    def __init__(self, make: Callable[[Sequence[str]], Iterable[V]], most: int) -> None:
        self._make, self._most = make, most
        self._known: dict[str, V] = {}
        self._lock = Lock()

    def of(self, texts: Sequence[str]) -> list[V]:
        """Return the (K,) values of texts; only those that are not remembered are made."""
        distinct = dict.fromkeys(texts)
        with self._lock:
            found = {text: self._known[text] for text in distinct if text in self._known}
        new = [text for text in distinct if text not in found]
        if new:
            found |= zip(new, self._make(new), strict=True)
        with self._lock:
            for text in distinct:  # what was used last stays longest
                self._known.pop(text, None)
                self._known[text] = found[text]
            for text in list(self._known)[: max(len(self._known) - self._most, 0)]:
                del self._known[text]
        return [found[text] for text in texts]
