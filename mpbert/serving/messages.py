"""What the API reads and answers; the descriptions stand in its OpenAPI document."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from mpbert.foundation.errors import printable

MAX_TOP = 100


def as_text(text: str) -> str:
    """Return the text.

    :raises ValueError: it holds a NUL character, or half of a surrogate pair: JSON can say both,
        and no text of a person does.
    """
    for offset, character in enumerate(text):
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise ValueError(f"expected text; found {character!a} at offset {offset}")
    return text


Text = Annotated[str, AfterValidator(as_text)]
Top = Annotated[int, Field(ge=1, le=MAX_TOP, description="papers to answer with")]
PaperId = Annotated[str, Field(description="id of a paper of the index")]


class Question(BaseModel):
    """A text and the place in it where a citation belongs."""

    model_config = ConfigDict(strict=True, extra="forbid")

    text: Text = Field(description="the manuscript, or a part of it")
    place: int | None = Field(
        None, ge=0, description="characters (code points) before the place; null: the text's end"
    )
    title: Text = Field("", description="title of the manuscript")
    abstract: Text = Field("", description="abstract of the manuscript")
    top: Top = 10
    year: int | None = Field(
        None, ge=1, le=9999, description="year of the manuscript: nothing later is recommended"
    )
    accepted: list[PaperId] = Field(
        [], max_length=MAX_TOP, description="papers already cited at this place"
    )
    ranker: Literal["dense", "words", "both"] = Field("both", description="vectors, words, or both")

    @model_validator(mode="after")
    def _place_is_in_text(self) -> "Question":
        if self.place is not None and self.place > len(self.text):
            raise ValueError(
                f"place is {self.place}, beyond the text's {len(self.text)} characters"
            )
        return self


class _FromRecords(BaseModel):
    model_config = ConfigDict(from_attributes=True)  # the recommender's records have these names


class PaperMessage(_FromRecords):
    """A paper of the index."""

    paper_id: PaperId
    title: str
    authors: list[str]
    year: int | None


class CitingSentenceMessage(_FromRecords):
    """A known sentence that cites the paper and is near the question."""

    text: str
    citing_id: str = Field(description="the paper that says it")
    citing_title: str
    citing_year: int | None
    similarity: float = Field(description="cosine of words; larger is closer")


class CompanionMessage(_FromRecords):
    """A paper that known sentences cite together with the recommended one."""

    paper_id: PaperId
    title: str
    count: int = Field(description="sentences that cite both")
    is_accepted: bool = Field(description="whether it was accepted at this place")


class WhyMessage(_FromRecords):
    """What speaks for a paper."""

    citing: list[CitingSentenceMessage]
    companions: list[CompanionMessage]


class RecommendationMessage(PaperMessage):
    """A recommended paper."""

    score: float = Field(description="larger is better; comparable within one answer only")
    why: WhyMessage


class Answer(BaseModel):
    """Recommended papers, best first."""

    papers: list[RecommendationMessage]
    milliseconds: float = Field(description="time to rank, without waiting")


class Titles(BaseModel):
    """Papers whose titles match, best first."""

    papers: list[PaperMessage]


class Positions(BaseModel):
    """The map: one entry per paper in each list."""

    num_papers: int = Field(
        description="papers of the index; not drawn are some of very many, and those without vector"
    )
    paper_ids: list[str]
    titles: list[str]
    years: list[int | None]
    x: list[float] = Field(description="in [-1, 1]: first principal direction")
    y: list[float] = Field(description="in [-1, 1]: second principal direction")


class Index(BaseModel):
    """What is served."""

    num_papers: int
    dim: int = Field(description="dimensions of a vector")
    version: str = Field(description="version of mpbert")


class Problem(BaseModel):
    """Why there is no answer."""

    error: str = Field(description="one line: what was found, what was expected")


def one_line(errors: list[Any]) -> str:
    """Return what pydantic found as one line of ASCII: the first error, and how many more."""
    first, more = errors[0], len(errors) - 1
    where = ".".join(map(str, first["loc"][1:]))  # the first part is "body" or "query"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        where, message = "", f"the body is no JSON: {first['ctx']['error']}"
    elif isinstance(first["input"], bytes):
        where, message = "", "the body is not said to be JSON; send content-type: application/json"
    elif first["type"] not in ("missing", "value_error"):
        message = f"{message}; found {_shown(first['input'])}"
    line = f"{where}: {message}" if where else message
    line = printable(line).encode("ascii", "backslashreplace").decode()
    return f"{line} (and {more} more)" if more else line


def _shown(value: object) -> str:
    """Return a value as one short piece of ASCII; texts and numbers may be very long."""
    if isinstance(value, str):
        return ascii(value[:40]) + ("..." if len(value) > 40 else "")
    if value is None or isinstance(value, (bool, float)):
        return repr(value)
    if isinstance(value, int):
        return repr(value) if abs(value) < 10**20 else "a very large integer"
    return {"list": "a list", "dict": "an object"}.get(type(value).__name__, "bytes")
