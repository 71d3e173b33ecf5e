"""What tools for an assistant answer with, and how they refuse."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from mpbert.foundation.errors import MpbertError
from mpbert.recommending.answers import Recommendations
from mpbert.recommending.recommender import Recommender
from mpbert.recommending.records import IndexedPaper
from mpbert.serving.reason_messages import CitingSentenceMessage, PassageMessage, WhyMessage

READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
T = TypeVar("T")


class FoundPaper(BaseModel):
    """A paper of the collection."""

    paper_id: str
    title: str
    authors: list[str]
    year: int | None
    doi: str | None
    abstract: str


class RecommendedPaper(FoundPaper):
    """A paper to cite, its passage that supports the text, and known sentences that cite it."""

    score: float = Field(description="larger is better; comparable within one answer only")
    probability: float | None = Field(description="that it is cited here; null: not known")
    evidence: PassageMessage | None
    citing: list[CitingSentenceMessage]


async def told(act: Callable[[], T]) -> T:
    """Return what an action returns, from another thread.

    :raises ToolError: with the one line of wrong input; the assistant reads it.
    """
    try:
        return await asyncio.to_thread(act)
    except MpbertError as error:
        raise ToolError(str(error)) from error


def as_found(paper: IndexedPaper) -> FoundPaper:
    """Return a paper as an assistant reads it."""
    return FoundPaper(
        paper_id=paper.paper_id,
        title=paper.title,
        authors=list(paper.authors),
        year=paper.year,
        doi=paper.doi,
        abstract=paper.abstract,
    )


def recommended(recommender: Recommender, answer: Recommendations) -> list[RecommendedPaper]:
    """Return the papers of an answer with what the index says of them."""
    papers = []
    for paper in answer:
        about = as_found(recommender.paper(paper.paper_id)).model_dump()
        why = WhyMessage.model_validate(paper.why)
        reasons = {"evidence": why.evidence, "citing": why.citing}
        numbers = {"score": paper.score, "probability": paper.probability}
        papers.append(RecommendedPaper(**about, **numbers, **reasons))
    return papers
