"""What every raw paper must be, whatever its reader: texts, and numbers that a table can hold."""

import re

from mpbert.corpus.records import RawPaper
from mpbert.foundation.errors import CorpusError

_LAST_YEAR = 9999
_MOST_SECTIONS = 32_767  # a table keeps their numbers in 16 bits
_BAD_IN_ID = re.compile("[\\s\x00\ud800-\udfff]")


def checked(paper: RawPaper) -> RawPaper:
    """Return the paper.

    :raises CorpusError: a field holds what it cannot hold; the first is named.
    """
    if (
        not isinstance(paper.paper_id, str)
        or not paper.paper_id
        or _BAD_IN_ID.search(paper.paper_id)
    ):
        raise _wrong(paper, "paper_id", paper.paper_id, "a text without white space")
    texts = [
        *(("title", paper.title), ("venue", paper.venue)),
        *(("authors", author) for author in paper.authors),
        *(("references", cited_id) for cited_id in paper.references),
        *(("headings of sections", section.heading) for section in paper.sections),
    ]
    for name, value in texts:
        if not isinstance(value, str):
            raise _wrong(paper, name, value, "a text")
    if paper.year is not None and not 1 <= paper.year <= _LAST_YEAR:
        raise _wrong(paper, "year", paper.year, f"1 to {_LAST_YEAR}, or none")
    if len(paper.sections) > _MOST_SECTIONS:
        raise _wrong(paper, "sections", len(paper.sections), f"at most {_MOST_SECTIONS:,}")
    return paper


def _wrong(paper: RawPaper, name: str, value: object, expected: str) -> CorpusError:
    return CorpusError(
        f"paper {str(paper.paper_id)[:80]!a}: found {str(value)[:80]!a} in {name}; expected "
        f"{expected}: correct the record"
    )
