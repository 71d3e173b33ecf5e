"""Text that knows, of each character, where in the files of a manuscript it stands."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mpbert.recommending.manuscripts.source_text import SourceText

NOWHERE = -1
_FIRST_CALL = -2  # of a call k, origins are _FIRST_CALL - k
_ENDS_IN_COMMAND = re.compile(r"(?<!\\)(?:\\\\)*\\[A-Za-z@]+\Z")


@dataclass(frozen=True)
class Traced:
    """A text with origins.

    :param origins: (n,) int64. 0 and more: place in the files, one after the other; less than -1:
        a call of a command that the manuscript defines, see :class:`Origins`; -1: nowhere.
    """

    text: str
    origins: np.ndarray

    def __len__(self) -> int:
        return len(self.text)

    def slice(self, start: int, end: int | None = None) -> "Traced":
        """Return a part, as of strings."""
        return Traced(self.text[start:end], self.origins[start:end])


def of_one_origin(text: str, origin: int) -> Traced:
    """Return a text all of whose characters have one origin."""
    return Traced(text, np.full(len(text), origin, dtype=np.int64))


def joined(parts: Iterable[Traced]) -> Traced:
    """Return the parts one after the other; a command's name stays apart from letters behind it."""
    texts, origins = [""], []
    for part in parts:
        if not part.text:
            continue
        if part.text[0].isalpha() and _ENDS_IN_COMMAND.search(texts[-1]):
            texts.append(" ")
            origins.append(np.array([NOWHERE]))
        texts.append(part.text)
        origins.append(part.origins)
    return Traced("".join(texts), np.concatenate([np.zeros(0, dtype=np.int64), *origins]))


class Origins:
    """What origins mean: files one after the other, and calls of commands in them."""

    def __init__(self) -> None:
        self._files: list[SourceText] = []
        self._starts: list[int] = []
        self._calls: list[tuple[int, int]] = []
        self._end = 0

    def add_file(self, source: SourceText, text: str) -> Traced:
        """Return a file as text with origins.

        :param text: of the file, as long as ``source.text``.
        """
        self._files.append(source)
        self._starts.append(self._end)
        start, self._end = self._end, self._end + len(text) + 1
        return Traced(text, np.arange(start, start + len(text)))

    def call(self, start: int, end: int) -> int:
        """Return the origin of what a command leaves that stands at [start, end) of the files.

        Within what another command leaves, it is the origin of that.
        """
        if start < 0:
            return start
        self._calls.append((start, end))
        return _FIRST_CALL - (len(self._calls) - 1)

    def span_of_call(self, origin: int) -> tuple[int, int]:
        """Return the [start, end) of a call."""
        return self._calls[_FIRST_CALL - origin]

    def in_file(self, origin: int) -> tuple[SourceText, int]:
        """Return the file of an origin of 0 or more, and the place in it."""
        number = int(np.searchsorted(self._starts, origin, side="right")) - 1
        return self._files[number], origin - self._starts[number]
