"""Tables of FlatBuffers, in which files of Arrow say what they hold.

A table is numbers at fixed places behind a list of where these are; so what is read of it is
read where it lies. See https://flatbuffers.dev/internals, whose names are used here.
"""

import struct
from collections.abc import Iterator

_LEAST_VTABLE = 4  # bytes: its own size, and that of the table


class FlatTable:
    """A table in a buffer; a field is asked for by its number in the schema.

    :param buffer: from a file, which may be damaged.
    :param place: where the table begins.
    :raises ValueError: it does not lie in the buffer; so do all methods.
    """

    def __init__(self, buffer: bytes, place: int) -> None:
        self._buffer, self._place = buffer, place
        self._vtable = place - self._number("<i", place)
        self._vtable_size = self._number("<H", self._vtable)

    @classmethod
    def root(cls, buffer: bytes) -> "FlatTable":
        """Return the table that a buffer is of."""
        if len(buffer) < 4:
            raise ValueError("found too few bytes of a header")
        return cls(buffer, *struct.unpack_from("<I", buffer))

    def number(self, field: int, form: str, default: int = 0) -> int:
        """Return a number.

        :param form: of the module ``struct``.
        """
        place = self._place_of(field)
        return default if place is None else self._number(form, place)

    def has(self, field: int) -> bool:
        """Return whether there is a field."""
        return self._place_of(field) is not None

    def text(self, field: int) -> str:
        """Return a text."""
        start, length = self._vector(field, 1)
        return self._buffer[start : start + length].decode()

    def table(self, field: int) -> "FlatTable":
        """Return a table.

        :raises ValueError: there is none.
        """
        place = self._place_of(field)
        if place is None:
            raise ValueError(f"found no field {field} in a header")
        return self._at(place)

    def tables(self, field: int) -> "Iterator[FlatTable]":
        """Yield the tables of a vector."""
        start, length = self._vector(field, 4)
        for place in range(start, start + 4 * length, 4):
            yield self._at(place)

    def structs(self, field: int, form: str) -> list[tuple[int, ...]]:
        """Return the structs of a vector.

        :param form: of one of them, of the module ``struct``.
        """
        size = struct.calcsize(form)
        start, length = self._vector(field, size)
        return list(struct.iter_unpack(form, self._buffer[start : start + size * length]))

    def _at(self, place: int) -> "FlatTable":
        return FlatTable(self._buffer, place + self._number("<I", place))

    def _place_of(self, field: int) -> int | None:
        """Return where a field lies; None: it is not there."""
        slot = _LEAST_VTABLE + 2 * field
        if slot + 2 > self._vtable_size:
            return None
        offset = self._number("<H", self._vtable + slot)
        return self._place + offset if offset else None

    def _vector(self, field: int, size: int) -> tuple[int, int]:
        """Return where the values of a vector begin, and how many there are."""
        place = self._place_of(field)
        if place is None:
            return 0, 0
        start = place + self._number("<I", place)
        length = self._number("<I", start)
        if start + 4 + size * length > len(self._buffer):
            raise ValueError("found a list beyond the end of a header")
        return start + 4, length

    def _number(self, form: str, place: int) -> int:
        if not 0 <= place <= len(self._buffer) - struct.calcsize(form):
            raise ValueError("found a number outside of a header")
        return struct.unpack_from(form, self._buffer, place)[0]
