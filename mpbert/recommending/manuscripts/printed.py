"""Manuscripts as PDF files: places where they cite; no key can be written there."""

from pathlib import Path

from mpbert.foundation.errors import CorpusError, ManuscriptError
from mpbert.foundation.extras import check_installed
from mpbert.recommending.manuscripts.marks import Marks, mark_places, without_marks
from mpbert.recommending.manuscripts.sentences import Draft


def read_pdf(path: Path) -> Draft:
    """Return the draft in a PDF file.

    :raises ManuscriptError: it is broken, encrypted, or a scan without text.
    :raises ModuleNotFoundError: pypdfium2 is not installed.
    """
    check_installed("pypdfium2")
    from mpbert.corpus.formats.pdf.manuscript import read_manuscript

    try:
        found = read_manuscript(path)
    except CorpusError as error:
        raise ManuscriptError(str(error)) from error
    except OSError as error:
        raise ManuscriptError(f"{path}: {error.strerror}; expected a manuscript") from error
    marks = Marks()
    title, abstract, text = (
        mark_places(without_marks(part), marks)
        for part in (found.title, found.abstract, found.text)
    )
    return Draft(text, marks, title, abstract)
