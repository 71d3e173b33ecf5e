"""Papers of a citation corpus, raw and clean.

A reader yields a :class:`RawPaper`, whose sentences still hold their citation markers. A corpus
store gives a :class:`Paper`, from which every marker was removed. Only ``mpbert.corpus.build``
turns the one into the other.
"""

from dataclasses import dataclass, field

from mpbert.citations.records import RawSentence
from mpbert.corpus.published import Publication

UNKNOWN_YEAR = 0  # in a corpus store that is not split by year


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
