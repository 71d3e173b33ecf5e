"""Papers of a citation corpus, raw and clean.

A reader yields a :class:`RawPaper`, whose sentences still hold their citation markers. A corpus
store gives a :class:`Paper`, from which every marker was removed. Only ``mpbert.corpus.build``
turns the one into the other. :func:`checked` says what every raw paper must be.
"""

import re
from dataclasses import dataclass, field

from mpbert.citations.records import RawSentence
from mpbert.corpus.published import Publication
from mpbert.foundation.errors import CorpusError

NOTES = "Notes"  # heading of what a reader has written about a paper
UNKNOWN_YEAR = 0  # in a corpus store that is not split by year
_LAST_YEAR = 9999
_MOST_SECTIONS = 32_767  # a table keeps their numbers in 16 bits
_BAD_IN_ID = re.compile("[\\s\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RawSection:
    """A section: its heading (may be empty) and its sentences. References lists are no sections."""

    heading: str
    sentences: tuple[RawSentence, ...]


@dataclass(frozen=True, slots=True)
class RawPaper:
    """A paper as a reader yields it.

    :param year: year of publication, or None where unknown.
    :param abstract: its sentences; may hold markers too.
    :param references: ids of all papers it cites, resolved or not to a place in the text.
    :param split: ``train``, ``valid`` or ``test`` where the raw corpus itself says so.
    :param published: where it appeared.
    """

    paper_id: str
    title: str
    year: int | None
    abstract: tuple[RawSentence, ...]
    sections: tuple[RawSection, ...]
    authors: tuple[str, ...] = ()
    venue: str = ""
    references: tuple[str, ...] = ()
    split: str | None = None
    published: Publication = Publication()


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper of a corpus store, free of citation markers.

    :param sentences: all sentences in reading order: first the abstract, then the body.
    :param num_abstract: how many of ``sentences`` are the abstract.
    :param split: ``train``, ``valid`` or ``test``: what its citation contexts are used for.
    """

    paper_id: str
    title: str
    year: int
    split: str
    sentences: list[str]
    num_abstract: int
    authors: list[str] = field(default_factory=list)
    venue: str = ""
    published: Publication = Publication()

    @property
    def abstract(self) -> list[str]:
        """Sentences of the abstract."""
        return self.sentences[: self.num_abstract]


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
