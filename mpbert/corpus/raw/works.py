"""Works as interfaces of the literature answer: one, a list, a page of results, or a line each."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mpbert.corpus.raw.files import open_file, read_lines, read_whole, without_packing
from mpbert.corpus.raw.json_stream import iter_members
from mpbert.corpus.raw.values import decode, reading

_START = 1 << 12  # bytes, of which the first sign and the first line are looked at


def iter_works(
    file: Path, expected: str, works_in: Callable[[dict[str, Any]], list[Any]]
) -> Iterator[tuple[str, Any]]:
    """Yield (place, work) of all works in a file.

    :param expected: what a work is, for messages.
    :param works_in: returns the works of an answer, or the object itself where it is a work.
    :raises CorpusError: the file is broken.
    """
    with open_file(file) as opened:
        start = opened.read(_START).decode("utf-8-sig", errors="replace").lstrip()
    if start.startswith("["):
        for key, value in iter_members(file):
            yield f"{file}: item {int(key) + 1}", value
        return
    if without_packing(file).suffix == ".jsonl" or not start.partition("\n")[0].strip() == "{":
        for number, line in read_lines(file):
            if line.strip():
                yield from _works(f"{file}:{number}", line, expected, works_in)
        return
    yield from _works(str(file), read_whole(file), expected, works_in)


def _works(
    place: str, text: bytes, expected: str, works_in: Callable[[dict[str, Any]], list[Any]]
) -> Iterator[tuple[str, Any]]:
    with reading(place, expected):
        found = works_in(decode(text.removeprefix(b"\xef\xbb\xbf")))
    if len(found) == 1:
        yield place, found[0]
        return
    for number, work in enumerate(found, start=1):
        yield f"{place}: item {number}", work
