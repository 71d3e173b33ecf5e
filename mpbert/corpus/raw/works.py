"""Works as interfaces of the literature answer: one, a list, a page of results, or a line each."""

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mpbert.corpus.raw.exports import Export, ExportReader
from mpbert.corpus.raw.files import LARGEST, open_file, read_lines, read_whole, without_packing
from mpbert.corpus.raw.json_stream import iter_members
from mpbert.corpus.raw.values import decode, reading

_MARK = b"\xef\xbb\xbf"  # of UTF-8, that some programs write first


class WorksReader(ExportReader):
    """Reads ``.json`` or ``.jsonl`` of an interface, or a folder of them."""

    suffixes = (".json", ".jsonl")
    has_keys = False  # but numbers of its own

    @staticmethod
    @abstractmethod
    def works_in(answer: dict[str, Any]) -> list[Any]:
        """Return the works of an answer, or the object itself where it is a work."""

    @staticmethod
    @abstractmethod
    def export_of(work: dict[str, Any]) -> Export:
        """Return what a work says."""

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all works.

        :raises CorpusError: the file holds no works, or one is broken.
        """
        for place, work in iter_works(file, self.expected, self.works_in):
            with reading(place, self.expected):
                record = self.export_of(work)
            yield place, record


def iter_works(
    file: Path, expected: str, works_in: Callable[[dict[str, Any]], list[Any]]
) -> Iterator[tuple[str, Any]]:
    """Yield (place, work) of all works in a file.

    :param expected: what a work is, for messages.
    :param works_in: as that of :class:`WorksReader`.
    :raises CorpusError: the file is broken.
    """
    with open_file(file) as opened:
        first = opened.readline(LARGEST).removeprefix(_MARK).strip()
    if first.startswith(b"["):
        for key, value in iter_members(file):
            yield f"{file}: item {int(key) + 1}", value
    elif without_packing(file).suffix == ".jsonl" or _is_object(first):
        for number, line in read_lines(file):
            if line.removeprefix(_MARK).strip():
                yield from _works(f"{file}:{number}", line, expected, works_in)
    else:
        yield from _works(str(file), read_whole(file), expected, works_in)


def _is_object(line: bytes) -> bool:
    """Whether a line is a JSON object by itself."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _works(
    place: str, text: bytes, expected: str, works_in: Callable[[dict[str, Any]], list[Any]]
) -> Iterator[tuple[str, Any]]:
    with reading(place, expected):
        found = works_in(decode(text.removeprefix(_MARK)))
    if len(found) == 1:
        yield place, found[0]
        return
    for number, work in enumerate(found, start=1):
        yield f"{place}: item {number}", work
