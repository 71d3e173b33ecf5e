"""A raw paper without its citation markers; whatever is dropped is counted."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from mpbert.citations.records import RawSentence
from mpbert.corpus.published import Publication
from mpbert.corpus.raw.names import persons
from mpbert.corpus.records import UNKNOWN_YEAR, RawPaper
from mpbert.corpus.text import LONGEST_TEXT, clean_characters, cut_markers, find_marker_like
from mpbert.foundation.errors import CorpusError


@dataclass(frozen=True, slots=True)
class CleanPaper:
    """A paper without markers.

    :param sections: section of each sentence: 0 is the abstract, the body counts from 1.
    :param cited: (position, ids that the sentence cites), for citing sentences in order.
    :param pages: of a PDF file on which each sentence begins, from 1, 0 where it is not known;
        empty: none is.
    """

    paper_id: str
    title: str
    year: int
    authors: list[str]
    venue: str
    num_abstract: int
    sentences: list[str]
    sections: np.ndarray
    headings: list[str]
    cited: list[tuple[int, list[str]]]
    references: tuple[str, ...]
    split: str | None = None
    published: Publication = Publication()
    pages: tuple[int, ...] = ()


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
    kept = _Sentences(paper.paper_id, counts)
    kept.add(paper.abstract, 0)
    num_abstract = len(kept.texts)
    for number, section in enumerate(paper.sections, start=1):
        kept.add(section.sentences, number)
    if not kept.texts:
        counts["papers_without_text"] += 1
        return None
    return CleanPaper(
        paper_id=paper.paper_id,
        title=clean_characters(paper.title),
        year=UNKNOWN_YEAR if paper.year is None else paper.year,
        authors=[name for each in paper.authors for name in persons(clean_characters(each))],
        venue=clean_characters(paper.venue),
        num_abstract=num_abstract,
        sentences=kept.texts,
        sections=np.array(kept.sections, np.int16),
        headings=[clean_characters(section.heading) for section in paper.sections],
        cited=kept.cited,
        references=paper.references,
        split=paper.split,
        published=paper.published.with_texts(clean_characters),
        pages=tuple(kept.pages) if any(kept.pages) else (),
    )


class _Sentences:
    """Sentences of one paper without markers, and what they cite.

    :param counts: receives what is dropped, kept, and what still looks like a marker.
    """

    def __init__(self, paper_id: str, counts: Counter[str]) -> None:
        self._paper_id, self._counts = paper_id, counts
        self.texts: list[str] = []
        self.sections: list[int] = []
        self.pages: list[int] = []
        self.cited: list[tuple[int, list[str]]] = []

    def add(self, sentences: tuple[RawSentence, ...], section: int) -> None:
        """Add the sentences of a section that hold words."""
        for sentence in sentences:
            if len(sentence.text) > LONGEST_TEXT:
                self._counts["sentences_dropped_as_too_long"] += 1
                continue
            self._add(sentence, section)

    def _add(self, sentence: RawSentence, section: int) -> None:
        counts = self._counts
        text = _cut(self._paper_id, sentence)
        ids = list(dict.fromkeys(i for m in sentence.markers for i in m.cited_ids))
        counts["markers_cut"] += len(sentence.markers)
        counts["markers_unresolved"] += sum(not m.cited_ids for m in sentence.markers)
        if not any(map(str.isalpha, text)):
            counts["sentences_without_words"] += 1
            counts["citations_in_sentences_without_words"] += len(ids)
            return
        if kind := find_marker_like(text):
            counts[f"sentences_with_marker_like_{kind}"] += 1
        if ids:
            self.cited.append((len(self.texts), ids))
        self.texts.append(text)
        self.sections.append(section)
        self.pages.append(sentence.page)


def _cut(paper_id: str, sentence: RawSentence) -> str:
    try:
        return cut_markers(sentence.text, sentence.markers)
    except ValueError as error:
        raise CorpusError(
            f"paper {paper_id!r}: {error} in the sentence {sentence.text[:60]!r}; "
            f"expected spans inside the text, in order: check the reader or the file"
        ) from error
