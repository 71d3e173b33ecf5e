"""An address for a check of what a finished manuscript cites, and of its bibliography."""

import time
from typing import Annotated, Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from mpbert.recommending.checking.bibliography_checks import BIBTEX
from mpbert.recommending.checking.checking import CheckedManuscript, check_text
from mpbert.recommending.checking.findings import Severity
from mpbert.serving.description import problems
from mpbert.serving.live import Edition, LiveIndex
from mpbert.serving.manuscript_messages import First, Form
from mpbert.serving.manuscripts import Run
from mpbert.serving.messages import PaperId, Text
from mpbert.serving.wanted import Year

_TEXT = r"Path MTU discovery prevents fragmentation \cite{mogul}. Others differ \cite{none}."
_BIBTEX = "@misc{mogul, title={Path MTU discovery}, year=1990}"


MAX_CHECKED = 100
CheckedPlaces = Annotated[
    int, Field(ge=1, le=MAX_CHECKED, description="places to check, at most; findings are of all")
]


class CheckQuestion(BaseModel):
    """A finished manuscript and its bibliography."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={"examples": [{"text": _TEXT, "format": "tex", "bibtex": _BIBTEX}]},
    )

    text: Text = Field(description="the manuscript, or a part of it")
    format: Form = "text"
    bibtex: Text = Field("", description="its entries; keys that are ids of papers need none")
    year: Year = None
    first: First = 0
    number: CheckedPlaces = MAX_CHECKED


class BetterMessage(BaseModel):
    """A paper that fits better."""

    paper_id: PaperId
    title: str
    key: str = Field(description="to cite it by")
    probability: float


class CitationMessage(BaseModel):
    """A citation whose paper the index holds."""

    key: str
    paper_id: PaperId
    title: str
    line: int | None
    sentence: str
    rank: int = Field(description="of the paper at this place, from 1")
    papers: int = Field(description="papers that are ranked")
    probability: float = Field(
        description="that it belongs here, where one citation in twenty is wrong"
    )
    verdict: Literal["fits", "doubtful"]
    better: BetterMessage | None = Field(description="null: none, or the paper fits")


class FindingMessage(BaseModel):
    """One thing to look at."""

    kind: str
    severity: Severity
    file: Literal["manuscript", "bibliography"]
    line: int | None
    message: str
    key: str
    other_key: str


class CheckAnswer(BaseModel):
    """What a check found, doubtful citations first."""

    citations: list[CitationMessage]
    findings: list[FindingMessage]
    unchecked: list[str] = Field(description="keys whose papers the index does not hold")
    num_places: int = Field(description="of the whole manuscript")
    milliseconds: float = Field(description="time to check, without waiting")


def add_checks_of_citations(app: FastAPI, live: LiveIndex, run: Run) -> None:
    """Add the address.

    :param run: as of :func:`mpbert.serving.manuscripts.add_manuscripts`.
    """

    @app.post("/api/check", responses=problems())
    async def check_citations(question: CheckQuestion) -> CheckAnswer:
        """Return how well each cited paper fits its sentence, and what is wrong with keys."""
        return await run(_answered, await live.edition(), question)


def _answered(edition: Edition, question: CheckQuestion) -> CheckAnswer:
    start = time.perf_counter()
    places = slice(question.first, question.first + question.number)
    asked = (question.text, question.format, question.bibtex, question.year)
    checked = check_text(edition.recommender, *asked, places)
    milliseconds = round(1000 * (time.perf_counter() - start), 1)
    return CheckAnswer(
        **as_messages(checked), num_places=checked.num_places, milliseconds=milliseconds
    )


def as_messages(checked: CheckedManuscript) -> dict[str, Any]:
    """Return what a check of a text found, as messages name it."""
    found = checked.as_json()
    for finding in found["findings"]:
        is_entry = finding.pop("path") == str(BIBTEX)
        finding["file"] = "bibliography" if is_entry else "manuscript"
    return found
