"""The papers of a library as they were read: on disk, one in memory when it is asked for."""

import json
from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import overload

import numpy as np

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.paper_bytes import bytes_of, paper_of
from mpbert.foundation.growing_arrays import Numbers, release
from mpbert.foundation.ragged import offsets_of
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.copies import MOST_IDENTIFIERS, identifiers

_BLOCK = 1 << 12  # papers that are written at once


class ReadPapers(Sequence[CleanPaper]):
    """Papers in temporary files, in the order in which they came.

    Of each, memory holds its id and hashes of what it may be known by; the hashes are of this
    process alone.

    :param lines: of :func:`mpbert.corpus.paper_bytes.bytes_of`.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._letters, self._cited = Numbers(np.uint8), Numbers(np.uint8)
        self._sizes, self._id_sizes, self._cited_sizes = array("q"), array("q"), array("q")
        self._ids, self._known, self._folded = bytearray(), array("q"), array("q")
        waiting: list[bytes] = []
        for line in lines:
            self._note(paper_of(line))
            self._sizes.append(len(line))
            waiting.append(line)
            if len(waiting) == _BLOCK:
                self._letters.extend(np.frombuffer(b"".join(waiting), np.uint8))
                waiting.clear()
        self._letters.extend(np.frombuffer(b"".join(waiting), np.uint8))

    @classmethod
    def of(cls, papers: Iterable[CleanPaper]) -> "ReadPapers":
        """Return papers that lie in memory."""
        return cls(map(bytes_of, papers))

    def _note(self, paper: CleanPaper) -> None:
        own = paper.paper_id.encode()
        self._ids += own
        self._id_sizes.append(len(own))
        self._folded.append(hash(paper.paper_id.casefold()))
        cited = b""
        if paper.cited:
            cited = json.dumps(cited_by(paper)).encode()
            self._cited.extend(np.frombuffer(cited, np.uint8))
        self._cited_sizes.append(len(cited))
        known = [hash(each) or 1 for each in identifiers(paper)]
        self._known.extend(known + [0] * (MOST_IDENTIFIERS - len(known)))

    def __len__(self) -> int:
        return len(self._sizes)

    @overload
    def __getitem__(self, row: int) -> CleanPaper: ...
    @overload
    def __getitem__(self, row: slice) -> list[CleanPaper]: ...
    def __getitem__(self, row: int | slice) -> CleanPaper | list[CleanPaper]:
        if isinstance(row, slice):
            return [self[each] for each in range(len(self))[row]]
        return paper_of(self.line(row))

    def line(self, row: int) -> bytes:
        """Return a paper as :func:`mpbert.corpus.paper_bytes.bytes_of` does."""
        return self._lines.bytes_at(row)

    def cited(self, row: int) -> list[str]:
        """Return the ids that a paper cites in its sentences."""
        return json.loads(self._all_cited.bytes_at(row) or b"[]")

    @cached_property
    def _lines(self) -> TextColumn:
        return TextColumn(offsets_of(self._sizes), self._letters.array())

    @cached_property
    def _all_cited(self) -> TextColumn:
        return TextColumn(offsets_of(self._cited_sizes), self._cited.array())

    @cached_property
    def sizes(self) -> np.ndarray:
        """(N,) bytes of each paper."""
        return np.asarray(self._sizes)

    def release(self) -> None:
        """Give back the memory of the papers that were asked for."""
        release(self._lines.letters)
        release(self._all_cited.letters)

    @cached_property
    def ids(self) -> TextColumn:
        """(N,) ids."""
        return TextColumn(offsets_of(self._id_sizes), np.frombuffer(self._ids, np.uint8))

    @cached_property
    def shares_case(self) -> np.ndarray:
        """(N,) whether another paper has the id without regard to case."""
        return _is_shared(np.asarray(self._folded))

    def may_be_copies(self) -> np.ndarray:
        """Return the rows of papers that share with another what they may be known by."""
        known = np.asarray(self._known).reshape(-1, MOST_IDENTIFIERS)
        shared = _is_shared(known.ravel()).reshape(known.shape) & (known != 0)
        return np.flatnonzero(shared.any(axis=1))


def cited_by(paper: CleanPaper) -> list[str]:
    """Return the ids that a paper cites in its sentences, each once."""
    return list(dict.fromkeys(i for _, ids in paper.cited for i in ids))


def _is_shared(numbers: np.ndarray) -> np.ndarray:
    """Return whether each number stands there more than once."""
    order = np.argsort(numbers)
    ordered = numbers[order]
    is_next = ordered[1:] == ordered[:-1]
    found = np.zeros(len(numbers), dtype=bool)
    found[order[1:][is_next]] = found[order[:-1][is_next]] = True
    return found
