"""What a library holds now: a digest of the record of each paper, and the papers of some records.

What has not changed is not parsed. The digest of an entry of a ``.bib`` is of its text, that of a
PDF file of its size and time, that of another export's record of what it says. Papers of formats
whose ids only parsing tells are all parsed.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, is_dataclass
from hashlib import blake2b
from pathlib import Path

from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.formats.base import READERS, Reader
from mpbert.corpus.formats.mixed import MixedReader, library_reader
from mpbert.corpus.raw.bibtex_entries import BibtexEntries
from mpbert.corpus.raw.files import FileSet, Source, walk
from mpbert.corpus.raw.text_files import read_text
from mpbert.foundation.engines import OwnProcesses
from mpbert.foundation.progress import progress
from mpbert.recommending.arrivals import digest_of
from mpbert.recommending.following.looks import look_at

BROKEN = "records_left_out_as_broken"  # count of those whose ids are not known


@dataclass(frozen=True)
class Snapshot:
    """A library as it is.

    :param digests: of the records, by the ids of their papers.
    :param read: gives the papers of some ids, fewer where some records make none; it receives the
        counts of what is dropped.
    """

    digests: dict[str, bytes]
    read: Callable[[Collection[str], Counter[str]], list[CleanPaper]]


def snapshot_of(path: Path, reader: str, grobid: str = "") -> Snapshot:
    """Return what a library holds.

    :param reader: name of its reader; ``grobid`` address of a service that reads PDF files.
    :raises CorpusError: it cannot be read.
    """
    if reader == "bibtex" and path.is_file():
        entries = BibtexEntries(read_text(path))
        if entries.digests is not None:
            return _of_bibtex(path, entries, grobid)
    if reader == "pdf" and path.is_dir():
        return _of_files(path, grobid)
    made = library_reader(path, reader, grobid)
    made.needs_citations = False
    return _of_records(path, made) if isinstance(made, MixedReader) else _of_papers(path, made)


def _of_bibtex(path: Path, entries: BibtexEntries, grobid: str) -> Snapshot:
    def read(ids: Collection[str], counts: Counter[str]) -> list[CleanPaper]:
        some = FileSet(path.parent, (path,), {path: entries.only(ids)})
        papers = _read(MixedReader([("bibtex", some)], grobid), some, counts)
        return [paper for paper in papers if paper.paper_id in ids]

    return Snapshot(entries.digests or {}, read)


def _of_files(folder: Path, grobid: str) -> Snapshot:
    pdf = READERS["pdf"]
    files = {pdf.id_of(file, folder): file for file in walk(folder, pdf.suffixes)}

    def read(ids: Collection[str], counts: Counter[str]) -> list[CleanPaper]:
        some = FileSet(folder, tuple(file for name, file in files.items() if name in ids))
        return _read(MixedReader([("pdf", some)], grobid) if grobid else pdf(), some, counts)

    return Snapshot({name: _digest(file) for name, file in files.items()}, read)


def _of_records(path: Path, reader: MixedReader) -> Snapshot:
    reader.prepare(path)
    digests: dict[str, bytes] = {}
    for record in reader.read_records(path):
        paper_id = reader.paper_id_of(record)
        if paper_id is None:
            return _of_papers(path, reader)
        digests[paper_id] = _digest(reader.content_of(record))
    broken = reader.counts[BROKEN]

    def read(ids: Collection[str], counts: Counter[str]) -> list[CleanPaper]:
        counts[BROKEN] += broken
        return _read(_Some(reader, ids), path, counts)

    return Snapshot(digests, read)


def _of_papers(path: Path, reader: Reader) -> Snapshot:
    found: Counter[str] = Counter()
    papers = {paper.paper_id: paper for paper in _read(reader, path, found)}

    def read(ids: Collection[str], counts: Counter[str]) -> list[CleanPaper]:
        counts.update(found)
        return [papers[each] for each in papers if each in ids]

    return Snapshot({name: digest_of(paper) for name, paper in papers.items()}, read)


class _Some(Reader):
    """Reads some of the records of a reader that is prepared."""

    name = "some"

    def __init__(self, reader: Reader, ids: Collection[str]) -> None:
        super().__init__()
        self._reader, self._ids = reader, ids

    def read_records(self, path: Source) -> Iterator[object]:
        records = self._reader.read_records(path)
        return (each for each in records if self._reader.paper_id_of(each) in self._ids)

    def parse(self, record: object):
        return self._reader.parse(record)


def _read(reader: Reader, source: Source, counts: Counter[str]) -> list[CleanPaper]:
    reader.needs_citations = False
    papers = iter_clean_papers(reader, source, OwnProcesses(), counts, needs_year=False)
    return list(progress(papers, "read papers", "paper"))


def _digest(content: object) -> bytes:
    return blake2b(repr(_plain(content)).encode(errors="replace"), digest_size=16).digest()


def _plain(content: object) -> object:
    """Return content by its values; a file by what a look tells of it."""
    if isinstance(content, Path):
        return str(content), look_at(content)
    if is_dataclass(content) and not isinstance(content, type):
        return [_plain(getattr(content, name)) for name in content.__dataclass_fields__]
    return [*map(_plain, content)] if isinstance(content, list | tuple) else content
