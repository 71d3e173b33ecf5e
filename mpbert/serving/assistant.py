"""Tools for an assistant: an index over the Model Context Protocol, by its official SDK."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

import mpbert
from mpbert.foundation.errors import ConfigError, MpbertError
from mpbert.recommending.manuscripts.marks import PLACE
from mpbert.recommending.manuscripts.sentences import manuscript_at, whole_sentences
from mpbert.recommending.options import Options, Ranker
from mpbert.recommending.rankers import AskedFor
from mpbert.recommending.recommender import Recommender
from mpbert.recommending.records import IndexedPaper
from mpbert.serving.live import LiveIndex
from mpbert.serving.messages import CitingSentenceMessage
from mpbert.serving.wanted import MAX_TOP, Filters, Since, Top, Year

_INSTRUCTIONS = (
    "Finds papers to cite, in one collection of papers on this machine. Ask recommend_papers with "
    f"a paragraph in which {PLACE} marks where the citation belongs, or recommend_for_paper with "
    "title and abstract of a whole paper."
)
_READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
RankedBy = Annotated[Ranker, Field(description="vectors, words, or both")]
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
    """A paper to cite, and known sentences that cite it and are near the text."""

    score: float = Field(description="larger is better; comparable within one answer only")
    citing: list[CitingSentenceMessage]


class RecommendedPapers(BaseModel):
    """Papers to cite, best first."""

    papers: list[RecommendedPaper]
    warning: str = Field(description="a line where text and collection share no language")


class FoundPapers(BaseModel):
    """Papers whose titles match, best first."""

    papers: list[FoundPaper]


def create_assistant(live: LiveIndex) -> MCPServer:
    """Return the server of an index: four tools that read, and change nothing."""
    server = MCPServer(
        "mpbert", instructions=_INSTRUCTIONS, version=mpbert.__version__, log_level="WARNING"
    )

    _add_places(server, live)
    _add_whole(server, live)

    @server.tool(annotations=_READ_ONLY)
    async def search_titles(
        query: Annotated[str, Field(description="words of a title, or how they begin")],
        top: Top = 10,
    ) -> FoundPapers:
        """Return papers whose titles hold all words of a query."""
        recommender = (await live.edition()).recommender
        found = await _told(lambda: recommender.search_titles(query, top))
        return FoundPapers(papers=[_found(paper) for paper in found])

    @server.tool(annotations=_READ_ONLY, structured_output=False)
    async def bibtex(
        paper_ids: Annotated[
            list[str], Field(min_length=1, max_length=MAX_TOP, description="ids of papers")
        ],
    ) -> str:
        """Return papers of the collection as BibTeX entries, in the order of their ids."""
        recommender = (await live.edition()).recommender
        return await _told(lambda: "\n\n".join(map(recommender.bibtex, paper_ids)))

    return server


def _add_places(server: MCPServer, live: LiveIndex) -> None:
    @server.tool(annotations=_READ_ONLY)
    async def recommend_papers(
        text: Annotated[
            str,
            Field(description=f"a part of a manuscript; {PLACE} marks the place, else its end is"),
        ],
        title: Annotated[str, Field(description="title of the manuscript")] = "",
        abstract: Annotated[str, Field(description="abstract of the manuscript")] = "",
        top: Top = Options.top,
        year: Year = Options.year,
        ranker: RankedBy = Options.ranker,
        since: Since = Options.since,
        filters: Filters = (),
    ) -> RecommendedPapers:
        """Recommend papers to cite at a place of a text, best first, with title and abstract."""
        recommender = (await live.edition()).recommender
        before, mark, after = text.partition(PLACE)

        def act() -> RecommendedPapers:
            if PLACE in after:
                raise ConfigError(f"text: found {text.count(PLACE)} times {PLACE}; expected one")
            place = len(before) if mark else None
            manuscript = manuscript_at(before + after, place, title, abstract)
            asked = recommender.asked_at(
                manuscript, 0, Options(top, year, (), ranker, since, filters)
            )
            return _recommended(recommender, asked)

        return await _told(act)


def _add_whole(server: MCPServer, live: LiveIndex) -> None:
    @server.tool(annotations=_READ_ONLY)
    async def recommend_for_paper(
        title: Annotated[str, Field(description="title of the paper")],
        abstract: Annotated[str, Field(description="abstract of the paper")] = "",
        top: Top = Options.top,
        year: Year = Options.year,
        ranker: RankedBy = Options.ranker,
        since: Since = Options.since,
        filters: Filters = (),
    ) -> RecommendedPapers:
        """Recommend papers to read for a whole paper, by its title and abstract, best first."""
        recommender = (await live.edition()).recommender

        def act() -> RecommendedPapers:
            sentences = whole_sentences(title, abstract)
            asked = recommender.asked_whole(
                sentences, Options(top, year, (), ranker, since, filters)
            )
            return _recommended(recommender, asked)

        return await _told(act)


async def _told(act: Callable[[], T]) -> T:
    """Return what an action returns, from another thread.

    :raises ToolError: with the one line of wrong input; the assistant reads it.
    """
    try:
        return await asyncio.to_thread(act)
    except MpbertError as error:
        raise ToolError(str(error)) from error


def _found(paper: IndexedPaper) -> FoundPaper:
    return FoundPaper(
        paper_id=paper.paper_id,
        title=paper.title,
        authors=list(paper.authors),
        year=paper.year,
        doi=paper.doi,
        abstract=paper.abstract,
    )


def _recommended(recommender: Recommender, asked: AskedFor) -> RecommendedPapers:
    answer = recommender.answer(asked)
    papers = []
    for paper in answer:
        about = _found(recommender.paper(paper.paper_id)).model_dump()
        citing = [CitingSentenceMessage.model_validate(sentence) for sentence in paper.why.citing]
        papers.append(RecommendedPaper(**about, score=paper.score, citing=citing))
    return RecommendedPapers(papers=papers, warning=answer.warning)
