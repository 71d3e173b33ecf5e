"""The printed lines of a PDF file, by PDFium, the engine of Chrome.

pypdfium2 is under Apache-2.0 or BSD-3-Clause, its wheels hold all that it needs. It reads ten to
twenty times as fast as pypdf, and tells which hyphens the setting of lines put in. PDFium runs in
one thread; processes may each have their own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpbert.corpus.raw.files import read_whole
from mpbert.foundation.errors import CorpusError

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfTextPage

MOST_BYTES = 1 << 28  # of a file: scanned books
MOST_PAGES = 400  # read of a file
MOST_CHARACTERS = 1 << 16  # read of a page: a page of tables in small print has 20,000
SOFT_HYPHEN = "\ufffe"  # stands where the setting of a line cut a word
_UPRIGHT = 0.02  # radians by which an upright character may lean
_PASSWORD = 4  # PDFium's code


class PdfError(CorpusError):
    """A PDF file that cannot be read.

    :param kind: ``broken``, ``encrypted`` or ``scanned``.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Line:
    """A line as printed.

    :param size: height of its letters in points; 0 where it was not measured.
    :param is_upright: whether it is printed from left to right; the stamp of arXiv is not.
    """

    text: str
    size: float = 0.0
    is_upright: bool = True


@dataclass(frozen=True)
class Printed:
    """What a file prints, or its first pages.

    :param about: its own ``Title``, ``Author`` and ``CreationDate``; empty where not given.
    :param pages: lines of each page in the order of the file; sizes of the first page alone.
    :param num_pages: of the whole file.
    """

    about: dict[str, str]
    pages: list[list[Line]]
    num_pages: int


def read_pdf(path: Path, most_pages: int = MOST_PAGES) -> Printed:
    """Return what a file prints.

    :param most_pages: how many pages are read, from the first.
    :raises PdfError: it is no PDF file, broken, or needs a password.
    :raises ModuleNotFoundError: pypdfium2 is not installed.
    """
    with _opened(path) as document:
        found = document.get_metadata_dict()
        about = {name: _clean(found.get(name, "")) for name in ("Title", "Author", "CreationDate")}
        number = len(document)
        pages = [_page(document, place) for place in range(min(number, most_pages))]
    return Printed(about, pages, number)


@contextmanager
def _opened(path: Path) -> Iterator["PdfDocument"]:
    import pypdfium2

    try:
        data = read_whole(path, MOST_BYTES)
    except CorpusError as error:
        raise PdfError(str(error), "broken") from error
    try:
        document = pypdfium2.PdfDocument(data)
        try:
            yield document
        finally:
            document.close()
    except (pypdfium2.PdfiumError, ValueError) as error:
        if getattr(error, "err_code", None) == _PASSWORD:
            raise PdfError(
                f"{path}: needs a password; expected a file that opens without one: print it into "
                f"another file",
                "encrypted",
            ) from error
        reason = " ".join(str(error).split())
        raise PdfError(
            f"{path}: unreadable ({reason}); expected a PDF file: copy it again", "broken"
        ) from error


def _page(document: "PdfDocument", number: int) -> list[Line]:
    page = document[number]
    try:
        text_page = page.get_textpage()
        try:
            if not number:
                return _measured(text_page)
            text = text_page.get_text_range(count=_count(text_page))
            return [Line(line) for raw in text.splitlines() if (line := _clean(raw))]
        finally:
            text_page.close()
    finally:
        page.close()


def _count(text_page: "PdfTextPage") -> int:
    return min(text_page.count_chars(), MOST_CHARACTERS)


def _measured(text_page: "PdfTextPage") -> list[Line]:
    """Return lines with the heights of their letters, which the nominal sizes of fonts hide."""
    from pypdfium2 import raw

    box = raw.FS_RECTF()
    lines: list[Line] = []
    letters: list[str] = []
    sizes: list[float] = []
    leaning = 0
    for place in range(_count(text_page)):
        code = raw.FPDFText_GetUnicode(text_page, place)
        if code in (10, 13):
            lines += _line(letters, sizes, leaning)
            letters, sizes, leaning = [], [], 0
            continue
        letters.append(SOFT_HYPHEN if raw.FPDFText_IsHyphen(text_page, place) == 1 else chr(code))
        if code > 32 and raw.FPDFText_GetLooseCharBox(text_page, place, box):
            sizes.append(box.top - box.bottom)
            leaning += _leans(raw, text_page, place)
    return lines + _line(letters, sizes, leaning)


def _leans(raw: Any, text_page: "PdfTextPage", place: int) -> bool:
    angle = raw.FPDFText_GetCharAngle(text_page, place)
    return abs((angle + np.pi) % (2 * np.pi) - np.pi) > _UPRIGHT


def _line(letters: list[str], sizes: list[float], leaning: int) -> list[Line]:
    text = _clean("".join(letters))
    if not text:
        return []
    size = round(float(np.median(sizes)), 1) if sizes else 0.0
    return [Line(text, size, leaning * 2 <= len(sizes))]


def _clean(text: str) -> str:
    """Return a text with single spaces; a NUL or half of a surrogate pair is none of it."""
    text = "".join(c for c in text if c != "\0" and not "\ud800" <= c <= "\udfff")
    return " ".join(text.split())
