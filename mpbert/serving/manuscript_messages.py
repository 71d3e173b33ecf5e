"""What the API reads and answers about a whole manuscript, as the page sends it."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from mpbert.serving.messages import (
    MAX_PLACES,
    AskedManuscript,
    AskedText,
    Judgement,
    PaperId,
    RecommendationMessage,
    Text,
    check_place,
)
from mpbert.serving.wanted import MAX_TOP

MAX_KEYS = 20_000
_TEXT = r"Large packets vanish. Path MTU discovery prevents fragmentation \cite{mogul}."


_WHOLE = {
    "title": "Sizing packets",
    "abstract": "We measure which packets are lost. Path MTU discovery finds their largest size.",
    "top": 3,
    "year": 2015,
}


def _few(keys: dict[str, str]) -> dict[str, str]:
    if len(keys) > MAX_KEYS:
        raise ValueError(f"found {len(keys):,} keys; expected {MAX_KEYS:,} or fewer")
    return keys


Keys = Annotated[
    dict[Text, PaperId],
    AfterValidator(_few),
    Field({}, description="key of a bibliography -> id of the paper"),
]
First = Annotated[int, Field(ge=0, description="places before the first that is answered")]
Number = Annotated[int, Field(ge=1, le=MAX_PLACES, description="places to answer, at most")]


Form = Annotated[
    Literal["text", "tex", "markdown", "org", "rst", "typst"], Field(description="how text is read")
]


class ManuscriptQuestion(AskedText):
    r"""A manuscript with ``\cite{...}``, ``[CITATION]``, ``[?]`` or ``[@key]``, or a cursor."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": _TEXT, "format": "tex", "top": 3}]}
    )

    format: Form = "text"
    cursor: Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="characters (code points) before the only place to answer; null: all that are "
        "marked",
    )
    first: First = 0
    number: Number = 10
    keys: Keys

    @model_validator(mode="after")
    def _cursor_is_in_text(self) -> "ManuscriptQuestion":
        check_place(self.cursor or 0, self.text)
        return self


class WholeQuestion(AskedManuscript):
    """A whole paper by its title and abstract, one of which may be empty."""

    model_config = ConfigDict(json_schema_extra={"examples": [_WHOLE]})

    accepted: list[PaperId] = Field(
        [], max_length=MAX_TOP, description="papers that are known already"
    )


class SiteMessage(BaseModel):
    """Where keys are written for a place: between ``start`` and ``end`` of the text."""

    start: int = Field(description="characters (code points) before it")
    end: int
    before: str = Field(description="what stands before the first key that is written")
    sign: str = Field(description="what stands before each key, such as @")
    between: str = Field(description="what stands between two keys")
    behind: str = Field(description="what stands behind the last key")


class CitedMessage(BaseModel):
    """A paper of the index that is cited at a place already."""

    key: str
    paper_id: PaperId


class PaperCard(RecommendationMessage):
    """A recommended paper with all that the index says of it."""

    venue: str
    abstract: str
    url: str | None = Field(description="address of the DOI")
    cited: Literal["elsewhere", "listed"] | None = Field(
        description="whether the manuscript cites it elsewhere, or knows it without citing it"
    )
    cited_as: str | None = Field(description="its key in the manuscript")


class ManuscriptPlace(Judgement):
    """Recommended papers for one sentence that cites, best first."""

    place: int = Field(description="its number, from 1")
    sentence: str
    keys: list[str] = Field(description="keys that stand there already")
    cited: list[CitedMessage]
    site: SiteMessage | None = Field(description="null: no key can be written there")
    papers: list[PaperCard]


class ManuscriptAnswer(BaseModel):
    """Places of a manuscript in the order of the text."""

    title: str = Field(description="that the text gives itself; empty if none")
    num_places: int = Field(description="of the whole manuscript")
    places: list[ManuscriptPlace]
    milliseconds: float = Field(description="time to read and rank, without waiting")


class WholeAnswer(Judgement):
    """Papers to read for a whole paper, best first."""

    papers: list[PaperCard]
    milliseconds: float = Field(description="time to read and rank, without waiting")


class BibliographyText(BaseModel):
    """Entries in BibTeX."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"bibtex": "@misc{mogul, title={Path MTU discovery}, year=1990}"}]
        },
    )

    bibtex: Text


class KnownEntries(BaseModel):
    """Which entries are papers of the index."""

    num_entries: int
    keys: dict[str, PaperId] = Field(description="key -> id of the paper")
    problem: str = Field(description="why entries were not read, in one line; else empty")
