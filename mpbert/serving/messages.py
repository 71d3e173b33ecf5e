"""What the API reads and answers; the descriptions stand in its OpenAPI document."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from mpbert.recommending.options import Options, Ranker
from mpbert.serving.reason_messages import WHY, FromRecords, PaperId, WhyMessage
from mpbert.serving.wanted import MAX_TOP, Filters, Since, Top, Year

MAX_PLACES = 50  # of a text, in one request


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
UnsharedLanguage = Annotated[
    str, Field(description="a line where the index shares no language with the place; else empty")
]


_ASKED = {
    "text": "Large packets vanish. Path MTU discovery prevents fragmentation",
    "title": "Sizing packets",
    "top": 3,
    "year": 2015,
}


_PAPER = {
    "paper_id": "RFC1191",
    "title": "Path MTU discovery",
    "authors": ["J. Mogul", "S. Deering"],
    "year": 1990,
    "doi": "10.17487/RFC1191",
    "score": 31.4,
    "probability": 0.64,
    "why": WHY,
}
_ANSWER = {"papers": [_PAPER], "warning": "", "holds": 0.81, "fits": True, "milliseconds": 12.3}


class AskedManuscript(BaseModel):
    """A manuscript, and what is asked for it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    title: Text = Field("", description="title of the manuscript")
    abstract: Text = Field("", description="abstract of the manuscript")
    top: Top = Options.top
    year: Year = Options.year
    since: Since = Options.since
    filters: Filters = []
    ranker: Ranker = Field(Options.ranker, description="vectors, words, or both")


class AskedText(AskedManuscript):
    """A text, and what is asked for it."""

    text: Text = Field(description="the manuscript, or a part of it")


class Question(AskedText):
    """A text and the place in it where a citation belongs."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_ASKED, "place": 20}]})

    place: Annotated[int, Field(ge=0)] | None = Field(
        None, description="characters (code points) before the place; null: the text's end"
    )
    accepted: list[PaperId] = Field(
        [], max_length=MAX_TOP, description="papers already cited at this place"
    )

    @model_validator(mode="after")
    def _place_is_in_text(self) -> "Question":
        check_place(self.place or 0, self.text)
        return self


def _few(places: list[int]) -> list[int]:
    if not 1 <= len(places) <= MAX_PLACES:
        raise ValueError(
            f"found {len(places)} places; expected 1 to {MAX_PLACES}, send more in a request of "
            f"their own"
        )
    return places


class Questions(AskedText):
    """A text and several places in it where citations belong."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_ASKED, "places": [20, 63]}]})

    places: Annotated[list[Annotated[int, Field(ge=0)]], AfterValidator(_few)] = Field(
        description="characters (code points) before each place",
        json_schema_extra={"minItems": 1, "maxItems": MAX_PLACES},
    )

    @model_validator(mode="after")
    def _places_are_in_text(self) -> "Questions":
        check_place(max(self.places), self.text)
        return self


def check_place(place: int, text: str) -> None:
    """Check that a place is in a text.

    :raises ValueError: it is not.
    """
    if place > len(text):
        raise ValueError(f"place is {place}, beyond the text's {len(text)} characters")


class PaperMessage(FromRecords):
    """A paper of the index."""

    paper_id: PaperId
    title: str
    authors: list[str]
    year: int | None
    doi: str | None = Field(description="null where neither its record nor its id tells one")


class RecommendationMessage(PaperMessage):
    """A recommended paper."""

    score: float = Field(description="larger is better; comparable within one answer only")
    probability: float | None = Field(
        description="that it is cited here, the same in every answer; null: not known"
    )
    why: WhyMessage


class Judgement(BaseModel):
    """How far a list of papers can be relied upon."""

    warning: UnsharedLanguage = ""
    holds: float | None = Field(
        None, description="probability that the library holds what belongs here; null: not known"
    )
    fits: bool | None = Field(None, description="false: nothing in this library fits well")


class Answer(Judgement):
    """Recommended papers, best first."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ANSWER]})

    papers: list[RecommendationMessage]
    milliseconds: float = Field(description="time to rank, without waiting")


class PlaceMessage(Judgement):
    """Recommended papers for one place, best first."""

    place: int = Field(description="characters (code points) before the place")
    papers: list[RecommendationMessage]


class Answers(BaseModel):
    """Recommended papers for several places of a text, in the order asked for."""

    places: list[PlaceMessage]
    milliseconds: float = Field(description="time to rank, without waiting")


class Titles(BaseModel):
    """Papers whose titles match, best first."""

    papers: list[PaperMessage]


class Topic(BaseModel):
    """A region of the map, and words that set the titles of its papers apart."""

    words: list[str] = Field(description="most telling first")
    x: float = Field(description="where its papers lie on average")
    y: float
    num_papers: int


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
    topics: list[Topic] = Field(description="regions of the map, largest first")


class Index(BaseModel):
    """What is served."""

    num_papers: int
    dim: int = Field(description="dimensions of a vector")
    version: str = Field(description="version of mpbert")


class Health(BaseModel):
    """Whether the server answers, and with what."""

    status: Literal["ok", "stale"] = Field(
        description="stale: the index was changed and cannot be read, the one before is served"
    )
    problem: str = Field(description="why it is stale, in one line; else empty")
    papers: int = Field(description="papers of the index")
    version: str = Field(description="version of mpbert")
    index_id: str = Field(description="SHA-256 of the index's manifest; another after a change")


class Problem(BaseModel):
    """Why there is no answer."""

    error: str = Field(description="one line: what was found, what was expected")
