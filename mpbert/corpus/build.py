"""Raw papers read, and cleaned in several processes."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

import numpy as np

from mpbert.corpus.clean import CleanPaper, clean_paper
from mpbert.corpus.formats.base import Reader
from mpbert.corpus.paper_bytes import paper_of, papers_in_bytes
from mpbert.corpus.records import checked
from mpbert.foundation.engines import Engine, Job
from mpbert.foundation.parts import Arrays, PartFiles

_CHUNK, _MOST = 32, 512  # records of a part: so many at first, so many in a large corpus
_BYTES = 1 << 22  # of a part, after which it ends
_PARTS = 256  # parts after which a part has twice as many: there are not too many files


def iter_clean_papers(
    reader: Reader,
    path: Path,
    engine: Engine,
    counts: Counter[str],
    needs_year: bool = True,
    parts: PartFiles | None = None,
) -> Iterator[CleanPaper]:
    """Read, parse and clean a raw corpus; see :func:`iter_clean_lines`."""
    yield from map(paper_of, iter_clean_lines(reader, path, engine, counts, needs_year, parts))


def iter_clean_lines(
    reader: Reader,
    path: Path,
    engine: Engine,
    counts: Counter[str],
    needs_year: bool = True,
    parts: PartFiles | None = None,
) -> Iterator[bytes]:
    """Yield the clean papers of a raw corpus, each as a line of JSON.

    :param engine: where papers are parsed and cleaned; they are read here.
    :param counts: receives what the reader and the cleaning count.
    :param needs_year: whether papers without a year are dropped.
    :param parts: where clean papers stay for a later run; None: nowhere.
    :raises CorpusError: the file or a record is broken.
    """
    reader.prepare(path)
    chunks = _chunks(iter(reader.read_records(path)))
    for part in engine.results(_Cleaning(reader, needs_year), chunks, parts):
        counts.update(json.loads(part["counts"].tobytes()))
        yield from part["papers"].tobytes().splitlines()
    counts.update(reader.counts)


def _chunks(records: Iterator[object]) -> Iterator[list[object]]:
    """Yield all records, some at a time; how many depends on nothing but the place and they."""
    for place in count():
        chunk, size = [], 0
        for record in islice(records, min(_CHUNK << place // _PARTS, _MOST)):
            chunk.append(record)
            size += _size(record)
            if size >= _BYTES:
                break
        if not chunk:
            return
        yield chunk


def _size(record: object) -> int:
    """Return the bytes or characters of a record, as far as it holds any itself."""
    parts = record if isinstance(record, tuple) else (record,)
    return sum(len(part) for part in parts if isinstance(part, bytes | str))


@dataclass(frozen=True)
class _Cleaning(Job):
    """Turns raw records into clean papers and the counts of these records alone."""

    reader: Reader
    needs_year: bool

    def open(self) -> "_Cleaning":
        return self

    def __call__(self, records: list[object]) -> Arrays:
        before, self.reader.counts = self.reader.counts, Counter()
        counts: Counter[str] = Counter(papers_read=len(records))
        papers = filter(None, map(self.reader.parse, records))  # one in memory, not all
        cleaned = (clean_paper(checked(paper), counts, self.needs_year) for paper in papers)
        content = papers_in_bytes(filter(None, cleaned))
        counts.update(self.reader.counts)
        self.reader.counts = before
        return {"papers": content, "counts": np.frombuffer(json.dumps(counts).encode(), np.uint8)}
