"""What the API answers of a paper's reasons."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

PaperId = Annotated[str, Field(description="id of a paper of the index")]

_CITING = {
    "text": "Path MTU discovery finds the largest packet that a path takes.",
    "citing_id": "RFC4821",
    "citing_title": "Packetization Layer Path MTU Discovery",
    "citing_year": 2007,
    "similarity": 0.52,
}
_COMPANION = {
    "paper_id": "RFC1981",
    "title": "Path MTU Discovery for IP version 6",
    "count": 4,
    "is_accepted": False,
}
_EVIDENCE = {
    "text": "A host discovers the path MTU by sending packets that are not fragmented.",
    "where": "body",
    "page": 4,
    "words": ["path", "mtu", "packets"],
    "score": 0.87,
}
WHY = {"evidence": _EVIDENCE, "citing": [_CITING], "companions": [_COMPANION]}


class FromRecords(BaseModel):
    """What has the names of the recommender's records."""

    model_config = ConfigDict(from_attributes=True)


class CitingSentenceMessage(FromRecords):
    """A known sentence that cites the paper and is near the question."""

    text: str
    citing_id: str = Field(description="the paper that says it")
    citing_title: str
    citing_year: int | None
    similarity: float = Field(description="cosine of words; larger is closer")


class CompanionMessage(FromRecords):
    """A paper that known sentences cite together with the recommended one."""

    paper_id: PaperId
    title: str
    count: int = Field(description="sentences that cite both")
    is_accepted: bool = Field(description="whether it was accepted at this place")


class PassageMessage(FromRecords):
    """The sentence of the paper itself that shares most with the place."""

    text: str
    where: Literal["abstract", "body"]
    page: int | None = Field(description="of the PDF file, from 1; null: not known")
    words: list[str] = Field(description="those that the place has too, in small letters")
    score: float = Field(description="larger is better; comparable within one answer only")


class WhyMessage(FromRecords):
    """What speaks for a paper."""

    evidence: PassageMessage | None = Field(description="null: no sentence of it shares enough")
    citing: list[CitingSentenceMessage]
    companions: list[CompanionMessage]
