"""Tools for an assistant that look at a whole manuscript: what it lacks, what it cites."""

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

from mpbert.recommending.checking.checking import check_text
from mpbert.recommending.options import Options
from mpbert.serving.answered import READ_ONLY, RecommendedPaper, recommended, told
from mpbert.serving.checks import CitationMessage, FindingMessage, as_messages
from mpbert.serving.live import LiveIndex
from mpbert.serving.manuscript_messages import Form
from mpbert.serving.missing import Probability, Sentences
from mpbert.serving.wanted import Filters, Since, Top, Year


class MissingCitation(BaseModel):
    """A sentence that cites nothing, and papers for it, best first."""

    line: int | None
    sentence: str
    probability: Probability
    papers: list[RecommendedPaper]


class MissingCitations(BaseModel):
    """Sentences that probably need a citation, the likeliest first."""

    sentences: list[MissingCitation]


class CheckedCitations(BaseModel):
    """What a check found, doubtful citations first."""

    citations: list[CitationMessage]
    findings: list[FindingMessage]
    unchecked: list[str] = Field(description="keys whose papers the collection does not hold")


def add_checks(server: MCPServer, live: LiveIndex) -> None:
    """Add the tools."""

    @server.tool(annotations=READ_ONLY)
    async def missing_citations(
        text: Annotated[str, Field(description="a manuscript, or a part of it")],
        sentences: Sentences = 10,
        top: Top = 3,
        year: Year = Options.year,
        since: Since = Options.since,
        filters: Filters = (),
    ) -> MissingCitations:
        """Find sentences that probably need a citation and have none, and papers for each."""
        recommender = (await live.edition()).recommender
        wanted = {"top": top, "year": year, "since": since, "filters": filters}

        def act() -> MissingCitations:
            found = [
                MissingCitation(
                    line=one.line,
                    sentence=one.answer.sentence,
                    probability=round(one.probability, 4),
                    papers=recommended(recommender, one.answer.papers),
                )
                for one in recommender.find_unmarked(text, sentences, **wanted)
            ]
            return MissingCitations(sentences=found)

        return await told(act)

    @server.tool(annotations=READ_ONLY)
    async def check_citations(
        text: Annotated[str, Field(description="a manuscript, or a part of it")],
        bibtex: Annotated[str, Field(description="its bibliography")] = "",
        format: Form = "text",
        year: Year = Options.year,
    ) -> CheckedCitations:
        """Find citations that do not fit their sentences, and keys and entries that are wrong."""
        recommender = (await live.edition()).recommender

        def act() -> CheckedCitations:
            found = check_text(recommender, text, format, bibtex, year)
            return CheckedCitations(**as_messages(found))

        return await told(act)
