"""The members of one large JSON object or array, one after another, in little memory."""

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mpbert.corpus.raw import files
from mpbert.foundation.errors import CorpusError

_CHUNK = 1 << 18  # bytes read at a time
_SPACE = " \t\r\n"
_AFTER = frozenset(_SPACE + ",:]}")  # what may follow a value


def iter_members(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (key, value) of each member of the object in a file.

    The elements of an array come with their numbers as keys, from 0.

    :raises CorpusError: it is neither, or is broken or cut off.
    """
    with files.open_file(path) as file:
        text = _JsonText(path, iter(lambda: file.read(_CHUNK), b""))
        opening = text.take("{[")
        number = 0
        while text.peek() != {"{": "}", "[": "]"}[opening]:
            if number:
                text.take(",")
            key = str(number)
            if opening == "{":
                key = text.value()
                text.take(":")
            yield key, text.value()
            number += 1


class _JsonText:
    """Text of a file as far as it was read, and the place in it."""

    def __init__(self, path: Path, chunks: Iterator[bytes]) -> None:
        self._path = path
        self._chunks = chunks
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._text, self._place, self._before = "", 0, 0
        self._is_whole = False

    def peek(self) -> str:
        """Return the next character that is no white space; empty at the end."""
        while True:
            while self._place < len(self._text) and self._text[self._place] in _SPACE:
                self._place += 1
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def take(self, wanted: str) -> str:
        """Return the next character and go past it; it must be one of ``wanted``."""
        found = self.peek()
        if not found or found not in wanted:
            raise self._error(f"found {found or 'the end'!r}, expected {' or '.join(wanted)}")
        self._place += 1
        return found

    def value(self) -> Any:
        """Return the next JSON value and go past it."""
        self.peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._place)
                # a number may go on in the next chunk, after "1" as after "1."
                if self._text[end : end + 1] in _AFTER or not self._more():
                    self._place = end
                    return value
            except ValueError as error:
                if len(self._text) - self._place > files.LARGEST:
                    raise files.too_large(
                        self._path, "value", files.LARGEST, "characters"
                    ) from error
                # twice as much each time: a long value is not tried again for every chunk
                if not self._more(max(len(self._text) - self._place, _CHUNK)):
                    raise self._error(f"found no JSON ({error})") from error
            except RecursionError as error:
                raise self._error("found JSON that is nested too deep") from error

    def _more(self, wanted: int = 1) -> bool:
        """Read on, at least so many characters where there are; return False at the end."""
        if self._is_whole:
            return False
        self._before += self._place
        parts = [self._text[self._place :]]
        while wanted > 0 and not self._is_whole:
            chunk = next(self._chunks, b"")
            self._is_whole = not chunk
            try:
                parts.append(self._decoder.decode(chunk, final=self._is_whole))
            except UnicodeDecodeError as error:
                raise self._error(f"found broken UTF-8 ({error.reason})") from error
            wanted -= len(parts[-1])
        self._text, self._place = "".join(parts), 0
        return True

    def _error(self, found: str) -> CorpusError:
        found = " ".join(found.split())
        return CorpusError(
            f"{self._path}: after {self._before + self._place:,} characters {found}; "
            f"expected one whole JSON object or array: get a fresh copy of the file"
        )
