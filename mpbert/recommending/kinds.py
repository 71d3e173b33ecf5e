"""Kinds of columns: what of Arrow's types the tables of an index use.

A kind says the number of its type in Arrow's ``Schema.fbs``, so that a file tells what it holds.
"""

from dataclasses import dataclass

INTEGER, TEXT_TYPE, BOOLEAN_TYPE, LIST, RECORD, BYTES, LONG_TEXT_TYPE = 2, 5, 6, 12, 13, 15, 20


@dataclass(frozen=True)
class Kind:
    """The kind of a column.

    :param type_number: in ``Schema.fbs``.
    :param size: bits of a whole number, or bytes of a value of bytes.
    :param parts: names and kinds of the parts of a record; of a list, of its values.
    """

    type_number: int
    size: int = 0
    parts: tuple[tuple[str, "Kind"], ...] = ()

    @property
    def form(self) -> str:
        """Type of numpy of a value, where an array is the column."""
        return f"<i{self.size // 8}" if self.type_number == INTEGER else f"V{self.size}"


Schema = dict[str, Kind]  # of a table: its columns in their order
TEXT = Kind(TEXT_TYPE)
LONG_TEXT = Kind(LONG_TEXT_TYPE)  # may be more than 2 GiB in one column
BOOLEAN = Kind(BOOLEAN_TYPE)
INT32 = Kind(INTEGER, 32)
SHA256 = Kind(BYTES, 32)


def lists_of(kind: Kind) -> Kind:
    """Return the kind of lists of values."""
    return Kind(LIST, parts=(("item", kind),))


def records_of(parts: Schema) -> Kind:
    """Return the kind of records that have these parts."""
    return Kind(RECORD, parts=tuple(parts.items()))
