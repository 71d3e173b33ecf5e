"""A PDF file as a manuscript: its title, its abstract, and its text with a mark at each citation.

``python -m mpbert.corpus.formats.pdf.manuscript FILE`` prints it as JSON. A server asks a process
of its own for it, which has a limit of memory: PDFium is a large program in C++, and files come
from anybody.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.pdf.reader import PdfReader
from mpbert.foundation.errors import MpbertError

try:
    import resource
except ImportError:  # Windows
    resource = None

PLACE = "[CITATION]"
_MOST_MEMORY = 2 << 30  # bytes of addresses, of the process


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


def main(path: Path) -> dict[str, object]:
    """Return what is printed: the manuscript, or ``error``, one line that names no file."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    try:
        return asdict(read_manuscript(path))
    except (MpbertError, MemoryError) as error:
        return {"error": told(path, error)}


def told(path: Path, error: Exception) -> str:
    """Return one line that does not name the file, whose place is ours."""
    return str(error).removeprefix(f"{path}: ") or "needs too much memory; send the text"


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
