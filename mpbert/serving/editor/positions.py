"""Places in a text as the Language Server Protocol counts them: lines, and units of an encoding."""

import re
from bisect import bisect_right

from lsprotocol.types import Position, PositionEncodingKind, Range

_LINE_END = re.compile(r"\r\n|\n|\r")
_UNIT = {  # bytes of a unit, and Python's name of the encoding
    PositionEncodingKind.Utf8.value: (1, "utf-8"),
    PositionEncodingKind.Utf16.value: (2, "utf-16-le"),
    PositionEncodingKind.Utf32.value: (4, "utf-32-le"),
}


class Lines:
    r"""The lines of a text, which end in ``\n``, ``\r\n`` or ``\r``, and in nothing else.

    :param encoding: whose units a position counts; that was agreed with the editor.
    """

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16.value) -> None:
        self._text = text
        self._bytes, self._codec = _UNIT[encoding]
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._ends = [*(end.start() for end in ends), len(text)]

    def offset(self, position: Position) -> int:
        """Return the character of a position; of one outside of the text, the nearest."""
        if position.line >= len(self._starts):
            return len(self._text)
        start = self._starts[position.line]
        line = self._text[start : self._ends[position.line]]
        if line.isascii():
            return start + min(position.character, len(line))
        units = line.encode(self._codec, "surrogatepass")[: position.character * self._bytes]
        return start + len(units.decode(self._codec, "ignore"))

    def position(self, offset: int) -> Position:
        """Return the position of a character."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : min(offset, self._ends[line])]
        return Position(line, len(before.encode(self._codec, "surrogatepass")) // self._bytes)

    def range(self, start: int, end: int) -> Range:
        """Return the range of [start, end)."""
        return Range(self.position(start), self.position(end))
