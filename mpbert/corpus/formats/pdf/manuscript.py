"""A PDF file as a manuscript: title, abstract, and text with a mark at each citation."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.pdf.reader import PdfReader

PLACE = "[CITATION]"


@dataclass(frozen=True)
class PdfManuscript:
    """What a writer needs of a file.

    :param text: paragraphs without the list of references, :data:`PLACE` at each citation.
    :param places: how many of these there are.
    """

    title: str
    abstract: str
    text: str
    places: int


def read_manuscript(path: Path) -> PdfManuscript:
    """Return what a PDF file holds.

    :raises PdfError: it is broken, encrypted, or a scan without text.
    :raises ModuleNotFoundError: pypdfium2 is not installed.
    """
    paper = PdfReader().paper_of(path)
    sections = [_marked(section.sentences) for section in paper.sections]
    abstract = _marked(paper.abstract)
    text = "\n\n".join(sections)
    return PdfManuscript(paper.title, abstract, text, text.count(PLACE))


def _marked(sentences: Iterable[RawSentence]) -> str:
    """Return sentences as one paragraph, with a mark in place of each citation."""
    found = []
    for sentence in sentences:
        text = sentence.text
        for marker in reversed(sentence.markers):
            text = f"{text[: marker.start]}{PLACE}{text[marker.end :]}"
        found.append(text)
    return " ".join(found)
