"""Raw papers read, cleaned in several processes, and put in order.

The order is that of their ids: rows, and with them all output, do not depend on the number of
processes.
"""

import multiprocessing
import signal
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from mpbert.corpus.clean import CleanPaper, clean_paper
from mpbert.corpus.formats.base import Reader
from mpbert.corpus.raw.check import checked
from mpbert.corpus.spill import StoredPapers, stored_papers
from mpbert.foundation.processes import end_with_parent

_CHUNK = 32  # papers handed to a process at a time


def iter_clean_papers(
    reader: Reader,
    path: Path,
    processes: int,
    counts: Counter[str],
    needs_year: bool = True,
) -> Iterator[CleanPaper]:
    """Read, parse and clean a raw corpus.

    :param processes: how many parse at once; 1 means this process alone, as does a process with
        threads, such as the kernel of a notebook: a lock that a thread holds stays locked in a
        forked process, which may then wait for ever.
    :param counts: receives what the reader and the cleaning count.
    :param needs_year: whether papers without a year are dropped.
    :raises CorpusError: the file or a record is broken.
    """
    reader.prepare(path)
    records = iter(reader.read_records(path))
    chunks = iter(lambda: list(islice(records, _CHUNK)), [])
    if processes == 1 or _has_threads():
        results = map(_Cleaner(reader, needs_year), chunks)
        yield from _collect(results, counts)
    else:
        with multiprocessing.get_context("fork").Pool(
            processes, initializer=_set_cleaner, initargs=(reader, needs_year)
        ) as pool:
            yield from _collect(pool.imap(_clean_in_process, chunks), counts)
    counts.update(reader.counts)


def _has_threads() -> bool:
    """Whether this process runs threads; that of a progress bar holds no lock that matters."""
    names = {thread.name for thread in threading.enumerate()}
    return bool(names - {threading.main_thread().name, "tqdm_monitor"})


def _collect(
    results: Iterator[tuple[list[CleanPaper], Counter[str]]], counts: Counter[str]
) -> Iterator[CleanPaper]:
    for papers, chunk_counts in results:
        counts.update(chunk_counts)
        yield from papers


class _Cleaner:
    """Turns a chunk of raw records into clean papers and the counts of this chunk alone."""

    def __init__(self, reader: Reader, needs_year: bool) -> None:
        self.reader = reader
        self.needs_year = needs_year

    def __call__(self, records: list[object]) -> tuple[list[CleanPaper], Counter[str]]:
        before = self.reader.counts
        self.reader.counts = Counter()
        counts: Counter[str] = Counter(papers_read=len(records))
        papers = [self.reader.parse(record) for record in records]
        cleaned = [
            clean_paper(checked(paper), counts, self.needs_year)
            for paper in papers
            if paper is not None
        ]
        counts.update(self.reader.counts)
        self.reader.counts = before
        return [paper for paper in cleaned if paper is not None], counts


def _set_cleaner(reader: Reader, needs_year: bool) -> None:
    global _cleaner
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops its processes
    end_with_parent()
    _cleaner = _Cleaner(reader, needs_year)


def _clean_in_process(records: list[object]) -> tuple[list[CleanPaper], Counter[str]]:
    return _cleaner(records)


def sort_papers(papers: Iterable[CleanPaper], directory: Path) -> StoredPapers:
    """Return all papers by id: their place is their row.

    :param directory: where papers wait on disk, as large as all of them; no name stays there.
    :raises CorpusError: two papers have one id.
    """
    with stored_papers(directory) as stored:
        for paper in papers:
            stored.add(paper)
        stored.sort()
        return stored
