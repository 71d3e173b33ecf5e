"""Tools for an assistant: an index over the Model Context Protocol, by its official SDK."""

from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import BaseModel, Field, ValidationError

import mpbert
from mpbert.foundation.errors import ConfigError, UnknownPaperError
from mpbert.recommending.manuscripts.marks import PLACE
from mpbert.recommending.manuscripts.sentences import manuscript_at, whole_sentences
from mpbert.recommending.options import Options, Ranker
from mpbert.recommending.rankers import AskedFor
from mpbert.recommending.recommender import Recommender
from mpbert.serving.answered import (
    READ_ONLY,
    FoundPaper,
    RecommendedPaper,
    as_found,
    recommended,
    told,
)
from mpbert.serving.assistant_checks import add_checks
from mpbert.serving.live import LiveIndex
from mpbert.serving.messages import Judgement
from mpbert.serving.refusals import one_line
from mpbert.serving.wanted import MAX_TOP, Filters, Since, Top, Year

_INSTRUCTIONS = (
    "Finds papers to cite, in one collection of papers on this machine. Ask recommend_papers with "
    f"a paragraph in which {PLACE} marks where the citation belongs, or recommend_for_paper with "
    "title and abstract of a whole paper. missing_citations finds sentences that lack a citation, "
    "check_citations those that do not fit."
)
RankedBy = Annotated[Ranker, Field(description="vectors, words, or both")]


class RecommendedPapers(Judgement):
    """Papers to cite, best first. Where ``fits`` is false, say so, and recommend none."""

    papers: list[RecommendedPaper]


class FoundPapers(BaseModel):
    """Papers whose titles match, best first."""

    papers: list[FoundPaper]


class Assistant(MCPServer):
    """A server that says in one line what is wrong with the arguments of a tool."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Any = None
    ) -> CallToolResult | InputRequiredResult:
        """Return what a tool answers.

        :raises ToolError: with one line, which the assistant reads.
        """
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(cause := error.__cause__, ValidationError):
                raise
            wrong = [{**each, "loc": ("arguments", *each["loc"])} for each in cause.errors()]
            raise ToolError(f"{name}: {one_line(wrong)}") from cause


def create_assistant(live: LiveIndex) -> MCPServer:
    """Return the server of an index: tools and papers that are read, and change nothing."""
    server = Assistant(
        "mpbert", instructions=_INSTRUCTIONS, version=mpbert.__version__, log_level="WARNING"
    )

    _add_places(server, live)
    _add_whole(server, live)
    add_checks(server, live)

    @server.tool(annotations=READ_ONLY)
    async def search_titles(
        query: Annotated[str, Field(description="words of a title, or how they begin")],
        top: Top = 10,
    ) -> FoundPapers:
        """Return papers whose titles hold all words of a query."""
        recommender = (await live.edition()).recommender
        found = await told(lambda: recommender.search_titles(query, top))
        return FoundPapers(papers=[as_found(paper) for paper in found])

    @server.resource("paper://{paper_id}", mime_type="application/json")
    async def paper(paper_id: str) -> str:
        """Return a paper of the collection, with its abstract."""
        recommender = (await live.edition()).recommender
        try:
            return as_found(recommender.paper(paper_id)).model_dump_json()
        except UnknownPaperError as error:
            raise ResourceNotFoundError(str(error)) from error

    @server.tool(annotations=READ_ONLY, structured_output=False)
    async def bibtex(
        paper_ids: Annotated[
            list[str], Field(min_length=1, max_length=MAX_TOP, description="ids of papers")
        ],
    ) -> str:
        """Return papers of the collection as BibTeX entries, in the order of their ids."""
        recommender = (await live.edition()).recommender
        return await told(lambda: "\n\n".join(map(recommender.bibtex, paper_ids)))

    return server


def _add_places(server: MCPServer, live: LiveIndex) -> None:
    @server.tool(annotations=READ_ONLY)
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

        return await told(act)


def _add_whole(server: MCPServer, live: LiveIndex) -> None:
    @server.tool(annotations=READ_ONLY)
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

        return await told(act)


def _recommended(recommender: Recommender, asked: AskedFor) -> RecommendedPapers:
    answer = recommender.answer(asked)
    return RecommendedPapers(papers=recommended(recommender, answer), **answer.judgement())
