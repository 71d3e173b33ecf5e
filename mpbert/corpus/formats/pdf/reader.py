"""Reader of PDF files: a folder of them, one paper each. A paper's id is the name of its file.

Citations are not resolved: what looks like one is cut out of the text. A service of GROBID does
better (:mod:`mpbert.corpus.formats.pdf.grobid`).
"""

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.pdf.file_name import Named, named
from mpbert.corpus.formats.pdf.front import Front, front_of
from mpbert.corpus.formats.pdf.lines import Line, PdfError, Printed, read_pdf
from mpbert.corpus.formats.pdf.text import (
    before_references,
    frames_of,
    joined,
    mended,
    on_pages,
    sections_of_lines,
    sentences_of,
    without_frame,
    words_of,
)
from mpbert.corpus.published import Publication
from mpbert.corpus.raw.files import Source, id_of_file, without_packing
from mpbert.corpus.raw.identifiers import Identifiers, plain_doi
from mpbert.corpus.raw.paper_files import PaperFileReader
from mpbert.corpus.records import RawPaper, RawSection
from mpbert.corpus.splits import YearSplits

_HEAD_PAGES = 2
_LEAST_LETTERS = 200  # of a file; one with less was scanned
_SEPARATORS = re.compile(r"[_-]+")


@READERS.register
class PdfReader(PaperFileReader):
    """Reads PDF files; one that is broken, encrypted or scanned is named, counted and left out.

    It needs pypdfium2, whose absence is a :class:`ModuleNotFoundError`.
    """

    name = "pdf"
    default_splits = YearSplits(valid_year=2018, test_year=2020)
    suffixes = (".pdf", ".PDF")
    bar = "open PDF files"
    problem = PdfError

    @classmethod
    def id_of(cls, file: Path, source: Source) -> str:
        """Return the id of the paper in a file that no record has attached."""
        return id_of_file(file, source, cls.suffixes)

    def identifiers_of(self, file: Path) -> Identifiers:
        """Return what the first pages say."""
        printed = _checked(file, read_pdf(file, _HEAD_PAGES), is_whole=False)
        return front_of(printed, _named(file)).identifiers

    def paper_of(self, file: Path, paper_id: str = "") -> RawPaper:
        """Return the paper of a file by itself.

        :raises PdfError: the file is broken, encrypted or scanned.
        :raises ModuleNotFoundError: pypdfium2 is not installed.
        """
        printed = _checked(file, read_pdf(file), is_whole=True)
        front = front_of(printed, _named(file))
        self.counts["pages_left_unread"] += printed.num_pages - len(printed.pages)
        self.counts["papers_without_title"] += not front.title
        self.counts["pdf_files_without_an_abstract"] += not front.abstract
        self.counts["years_by_the_name_of_the_file"] += bool(front.year and not front.is_dated)
        return self._paper(paper_id, front, printed)

    def _paper(self, paper_id: str, front: Front, printed: Printed) -> RawPaper:
        page, place = front.body_page
        frames = frames_of([_upright(lines) for lines in printed.pages])
        behind = [lines[place if not n else 0 :] for n, lines in enumerate(printed.pages[page:])]
        pages = [list(map(mended, without_frame(_upright(lines), frames))) for lines in behind]
        lines = before_references(list(chain.from_iterable(pages)))
        words = words_of(lines)
        abstract = joined([mended(line) for line in front.abstract], words)
        made = [
            RawSection(heading, sentences_of(paragraphs, self.counts))
            for heading, paragraphs in sections_of_lines(lines, words)
        ]
        return RawPaper(
            paper_id=paper_id,
            title=mended(front.title) or _SEPARATORS.sub(" ", paper_id.rpartition("/")[2]),
            year=front.year,
            abstract=sentences_of([abstract], self.counts) if abstract else (),
            sections=on_pages([each for each in made if each.sentences], pages, page + 1),
            authors=front.authors,
            published=Publication(doi=plain_doi(front.identifiers.doi or ""), id_is_key=False),
        )


def _named(file: Path) -> Named:
    return named(without_packing(file).stem)


def _upright(lines: Sequence[Line]) -> list[str]:
    return [line.text for line in lines if line.is_upright]


def _checked(file: Path, printed: Printed, is_whole: bool) -> Printed:
    """Return what a file prints.

    :raises PdfError: it prints no text; a scan may have some behind the first pages.
    """
    texts = (line.text for page in printed.pages for line in page)
    letters = sum(map(str.isalpha, chain.from_iterable(texts)))
    if letters < _LEAST_LETTERS and (is_whole or printed.num_pages <= len(printed.pages)):
        raise PdfError(
            f"{file}: found {letters} letters on {printed.num_pages} pages; expected text: a scan "
            f"needs OCR first, such as ocrmypdf",
            "scanned",
        )
    return printed
