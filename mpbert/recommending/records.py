"""What a recommender answers with."""

from dataclasses import dataclass, field
from typing import Literal

from mpbert.corpus.published import Publication


@dataclass(frozen=True, slots=True)
class IndexedPaper:
    """A paper as an index knows it.

    :param year: year of publication; None where the corpus has none.
    :param abstract: one text, empty where there is none.
    :param doi: that its record says, or that its id tells; None where there is none.
    :param published: what else its record says of where it appeared.
    """

    paper_id: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    venue: str
    abstract: str
    doi: str | None = None
    published: Publication = Publication()


@dataclass(frozen=True, slots=True)
class CitingSentence:
    """A known sentence that cites a recommended paper, without its citation marker.

    :param citing_id: the paper it is of; ``citing_title`` and ``citing_year`` are of that paper.
    :param similarity: cosine of its words and those around the place, from 0 to 1.
    """

    text: str
    citing_id: str
    citing_title: str
    citing_year: int | None
    similarity: float


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentence of a recommended paper that shares most with the place.

    :param where: ``abstract`` or ``body``.
    :param page: of the PDF file on which it begins, from 1; None: not known.
    :param words: those that the place has too, in small letters, in their order.
    :param score: larger is better; comparable among the papers of one answer.
    """

    text: str
    where: Literal["abstract", "body"]
    page: int | None
    words: tuple[str, ...]
    score: float

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return self.where if self.page is None else f"page {self.page}"


@dataclass(frozen=True, slots=True)
class Companion:
    """A paper that is cited in the same sentences as a recommended one.

    :param count: how many known sentences cite both.
    :param is_accepted: whether it was accepted at this place.
    """

    paper_id: str
    title: str
    count: int
    is_accepted: bool = False


@dataclass(frozen=True, slots=True)
class Why:
    """Reasons for a recommendation; both lists may be empty.

    :param evidence: passage of the paper itself; None: no sentence of it shares enough.
    :param citing: nearest citing sentences, most similar first.
    :param companions: papers cited together with it: accepted ones first, then by count.
    """

    citing: tuple[CitingSentence, ...] = ()
    companions: tuple[Companion, ...] = ()
    evidence: Passage | None = None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A ranked paper.

    :param score: larger is better; comparable within one answer alone.
    :param doi: None where it is not known.
    :param probability: P(the paper is cited here); it means the same in every answer. None: not
        known, of another ranker than ``both``, of lists fused by ranks, and of an older index.
    """

    paper_id: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    score: float
    why: Why = field(default_factory=Why)
    doi: str | None = None
    probability: float | None = None

    @property
    def reasons(self) -> list[str]:
        """What ``why`` says, as lines."""
        passage = self.why.evidence
        lines = [f"it says, {passage.place}: {passage.text}"] if passage else []
        lines += [f"{c.citing_id} cites it, {c.similarity:.2f}: {c.text}" for c in self.why.citing]
        together = ", ".join(f"{c.paper_id} ({c.count})" for c in self.why.companions)
        return [*lines, f"cited together with {together}"] if together else lines
