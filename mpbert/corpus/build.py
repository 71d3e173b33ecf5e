"""From raw papers to the tables of a corpus store.

Papers are parsed and cleaned in several processes, then put in the order of their ids: rows, and
with them all output, do not depend on the number of processes. Whatever is dropped is counted.
"""

import multiprocessing
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.base import Reader
from mpbert.corpus.raw.check import checked
from mpbert.corpus.records import UNKNOWN_YEAR, RawPaper
from mpbert.corpus.spill import spilled_sentences
from mpbert.corpus.text import LONGEST_TEXT, clean_characters, cut_markers, find_marker_like
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.processes import end_with_parent

_CHUNK = 32  # papers handed to a process at a time
_ON_DISK = pa.nulls(0, pa.string())  # stands for sentences that wait on disk; no pandas


@dataclass(frozen=True, slots=True)
class CleanPaper:
    """A paper without markers; its sentences are one Arrow array, which is small in memory.

    :param sections: section of each sentence: 0 is the abstract, the body counts from 1.
    :param cited: (position, ids that the sentence cites), for citing sentences in order.
    """

    paper_id: str
    title: str
    year: int
    authors: list[str]
    venue: str
    num_abstract: int
    sentences: pa.Array
    sections: np.ndarray
    headings: list[str]
    cited: list[tuple[int, list[str]]]
    references: tuple[str, ...]
    split: str | None = None


@dataclass(frozen=True)
class Links:
    """Citations between papers of a corpus, as rows.

    :param contexts: (citing row, position, cited rows in order of appearance), sorted.
    :param citations: (M, 2), distinct (citing row, cited row) pairs, sorted: references and
        everything that a context cites.
    """

    contexts: list[tuple[int, int, list[int]]]
    citations: np.ndarray


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


def clean_paper(
    paper: RawPaper, counts: Counter[str], needs_year: bool = True
) -> CleanPaper | None:
    """Remove all markers from a paper; None where it has no text, or no year and needs one.

    :param counts: receives what is dropped, kept, and what still looks like a marker.
    :raises CorpusError: a marker does not fit its sentence.
    """
    if paper.year is None:
        counts["papers_without_year"] += 1
        if needs_year:
            return None
    texts: list[str] = []
    sections: list[int] = []
    cited: list[tuple[int, list[str]]] = []

    def add(sentences: tuple[RawSentence, ...], section: int) -> None:
        for sentence in sentences:
            if len(sentence.text) > LONGEST_TEXT:
                counts["sentences_dropped_as_too_long"] += 1
                continue
            text = _cut(paper, sentence)
            ids = list(dict.fromkeys(i for m in sentence.markers for i in m.cited_ids))
            counts["markers_cut"] += len(sentence.markers)
            counts["markers_unresolved"] += sum(not m.cited_ids for m in sentence.markers)
            if not any(map(str.isalpha, text)):
                counts["sentences_without_words"] += 1
                counts["citations_in_sentences_without_words"] += len(ids)
                continue
            if kind := find_marker_like(text):
                counts[f"sentences_with_marker_like_{kind}"] += 1
            if ids:
                cited.append((len(texts), ids))
            texts.append(text)
            sections.append(section)

    add(paper.abstract, 0)
    num_abstract = len(texts)
    for number, section in enumerate(paper.sections, start=1):
        add(section.sentences, number)
    if not texts:
        counts["papers_without_text"] += 1
        return None
    return CleanPaper(
        paper_id=paper.paper_id,
        title=clean_characters(paper.title),
        year=UNKNOWN_YEAR if paper.year is None else paper.year,
        authors=[clean_characters(author) for author in paper.authors],
        venue=clean_characters(paper.venue),
        num_abstract=num_abstract,
        sentences=pa.array(texts, pa.string()),
        sections=np.array(sections, np.int16),
        headings=[clean_characters(section.heading) for section in paper.sections],
        cited=cited,
        references=paper.references,
        split=paper.split,
    )


def _cut(paper: RawPaper, sentence: RawSentence) -> str:
    try:
        return cut_markers(sentence.text, sentence.markers)
    except ValueError as error:
        raise CorpusError(
            f"paper {paper.paper_id!r}: {error} in the sentence {sentence.text[:60]!r}; "
            f"expected spans inside the text, in order: check the reader or the file"
        ) from error


def sort_papers(papers: Iterator[CleanPaper], directory: Path) -> list[CleanPaper]:
    """Return all papers by id: their place in the list is their row.

    :param directory: where sentences wait on disk, as large as all of them; nothing stays there.
    :raises CorpusError: two papers have one id.
    """
    by_id: dict[str, CleanPaper] = {}
    numbers: dict[str, int] = {}
    with spilled_sentences(directory) as spilled:
        for paper in papers:
            if paper.paper_id in by_id:
                raise CorpusError(
                    f"paper id {paper.paper_id!r} occurs twice; expected unique ids, "
                    f"remove one of the two papers"
                )
            numbers[paper.paper_id] = spilled.add(paper.sentences)
            by_id[paper.paper_id] = replace(paper, sentences=_ON_DISK)
        spilled.seal()
        return [
            replace(by_id[paper_id], sentences=spilled.get(numbers[paper_id]))
            for paper_id in sorted(by_id)
        ]


def link_papers(papers: list[CleanPaper], unknown_cited: str, counts: Counter[str]) -> Links:
    """Resolve cited ids to rows; citations of a paper by itself and of unknown papers are dropped.

    :param papers: sorted by id.
    :param unknown_cited: ``drop`` (and count), or ``error``.
    :raises CorpusError: an id is in no paper, and ``unknown_cited`` is ``error``.
    """
    row_of = {paper.paper_id: row for row, paper in enumerate(papers)}

    def rows_of(citing_row: int, ids: list[str] | tuple[str, ...], what: str) -> list[int]:
        rows = []
        for cited_id in ids:
            row = row_of.get(cited_id)
            if row is None:
                if unknown_cited == "error":
                    raise CorpusError(
                        f"paper {papers[citing_row].paper_id!r} cites {cited_id!r}, which is not "
                        f"in the corpus; add that paper or build with --unknown-cited drop"
                    )
                counts[f"{what}_of_papers_outside_the_corpus"] += 1
            elif row == citing_row:
                counts[f"{what}_of_the_paper_itself"] += 1
            else:
                rows.append(row)
        return rows

    contexts: list[tuple[int, int, list[int]]] = []
    pairs: set[tuple[int, int]] = set()
    num_references = 0
    for citing_row, paper in enumerate(papers):
        references = set(rows_of(citing_row, paper.references, "references"))
        num_references += len(references)
        in_text: set[int] = set()
        for position, ids in paper.cited:
            if rows := rows_of(citing_row, ids, "in_text_citations"):
                contexts.append((citing_row, position, rows))
                in_text.update(rows)
            else:
                counts["citing_sentences_without_a_paper_of_the_corpus"] += 1
        counts["references_found_in_text"] += len(references & in_text)
        counts["cited_in_text_but_not_in_references"] += len(in_text - references)
        pairs.update((citing_row, cited_row) for cited_row in references | in_text)
    counts["references"] = num_references
    years = [paper.year for paper in papers]
    if later := sum(0 < years[citing] < years[cited] for citing, cited in pairs):
        counts["citations_of_papers_of_later_years"] = later
    return Links(contexts, np.array(sorted(pairs), np.int32).reshape(-1, 2))
