"""The lines of TREC files, read into columns; a bad one is named."""

import re
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from mpbert.foundation.errors import RunError

_INDEX = pa.dictionary(pa.int32(), pa.string())
_KINDS = {4: "qrels", 6: "a run"}  # by the fields of a line


def bytes_of(path: Path) -> bytes:
    """Return what a file holds.

    :raises RunError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        inside = sorted(path.glob("*.run"))
        hint = f", such as {inside[0]} in this folder" if inside else ""
        raise RunError(
            f"{path}: cannot be read ({error.strerror}); expected a TREC file{hint}"
        ) from error


def read_lines(
    path: Path, data: bytes, fields: tuple[str, ...], number: pa.DataType
) -> tuple[pa.Table, bytes]:
    """Return the columns of ids and of numbers, and the bytes with single spaces that they are of.

    :param fields: what each line holds, in order.
    :param number: type of the score or of the relevance.
    :raises RunError: there is no line, or one is malformed.
    """
    if not data.strip():
        raise RunError(f"{path}: found no lines; expected '{' '.join(fields)}'")
    if b"\t" in data or b"  " in data or b" \n" in data or b"\r" in data:
        data = re.sub(rb" ?\n ?", b"\n", re.sub(rb"[ \t\r]+", b" ", data)).lstrip(b" ")
    wanted = {"query id": _INDEX, "paper id": _INDEX, "score": number, "relevance": number}
    types = {name: wanted[name] for name in fields if name in wanted}
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(column_names=list(fields)),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[]
            ),
        )
    except pa.ArrowInvalid as error:
        raise _explain(path, data, fields, number) from error
    return table.unify_dictionaries().combine_chunks(), data


def _explain(path: Path, data: bytes, fields: tuple[str, ...], number: pa.DataType) -> RunError:
    """Find the first bad line; it is only looked for when the fast reader has refused the file."""
    kind = "a number" if pa.types.is_floating(number) else "0 or 1"
    convert = float if pa.types.is_floating(number) else int
    named = "score" if "score" in fields else "relevance"
    for line_number, line in enumerate(data.splitlines(), 1):
        try:
            words = line.decode().split(" ")
        except UnicodeDecodeError:
            return RunError(f"{path}:{line_number}: found bytes that are not UTF-8; expected UTF-8")
        if words == [""]:
            continue
        if len(words) != len(fields):
            return RunError(
                f"{path}:{line_number}: found {len(words)} fields; expected {len(fields)} of "
                f"{_KINDS[len(fields)]}: {', '.join(fields)}"
            )
        try:
            convert(words[fields.index(named)])
        except ValueError:
            found = words[fields.index(named)]
            return RunError(f"{path}:{line_number}: found {named} {found!r}; expected {kind}")
    return RunError(f"{path}: is no TREC file; expected lines '{' '.join(fields)}'")


def line_number(data: bytes, row: int) -> int:
    """Return the 1-based line of the row-th line that is not blank."""
    lines = (number for number, line in enumerate(data.splitlines(), 1) if line.strip())
    for _ in range(row):
        next(lines)
    return next(lines)
