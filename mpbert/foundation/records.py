"""What a citation corpus is made of.

Two shapes: :class:`RawPaper` is what a reader yields, with the citation markers still in the text
as spans; :class:`Paper` and :class:`CitationContext` are what a built corpus store gives, with
every marker removed. Only ``mpbert.corpus.build`` turns the one into the other.
"""

from dataclasses import dataclass, field

UNKNOWN_YEAR = 0  # in a corpus store that is not split by year


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker in a sentence, to be cut out of it.

    :param start: first character of the marker in the sentence's text.
    :param end: one past its last character.
    :param cited_ids: ids of the papers it cites that the reader could resolve; empty for a marker
        whose paper is unknown or outside the corpus (it is cut out all the same).
    """

    start: int
    end: int
    cited_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RawSentence:
    """A sentence as a reader found it, markers included."""

    text: str
    markers: tuple[Marker, ...] = ()


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

    @property
    def abstract(self) -> list[str]:
        """Sentences of the abstract."""
        return self.sentences[: self.num_abstract]


@dataclass(frozen=True, slots=True)
class CitationContext:
    """A sentence that cites papers of the corpus: one query of the local task.

    :param position: 0-based position of the citing sentence in ``Paper.sentences``.
    :param cited_ids: distinct papers that the sentence cites, in order of appearance.
    :param local: previous, citing and next sentence, those that exist, without markers
        (the "fundamental context" of MP-BERT4CR, Sec. 4.1.1).
    """

    context_id: str
    citing_id: str
    position: int
    cited_ids: list[str]
    split: str
    year: int
    local: list[str]


@dataclass(frozen=True, slots=True)
class ScoredPaper:
    """One line of a ranking: a paper and its score; larger is better."""

    paper_id: str
    score: float
