"""An address for sentences of a manuscript that need a citation and have none."""

import time
from typing import Annotated

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from mpbert.recommending.manuscripts.pasted import draft_of, sites_at
from mpbert.recommending.manuscripts.sentences import manuscript_of
from mpbert.recommending.unmarked.finding import find_unmarked
from mpbert.serving.description import problems
from mpbert.serving.live import Edition, LiveIndex
from mpbert.serving.manuscript_messages import Form, Keys, PaperCard, SiteMessage
from mpbert.serving.manuscripts import Run, card_of, known_in, options_of
from mpbert.serving.messages import AskedText, Judgement

MAX_SENTENCES = 50
Sentences = Annotated[
    int, Field(ge=1, le=MAX_SENTENCES, description="sentences to answer with, at most")
]
Probability = Annotated[float, Field(description="that a published paper cites in such a sentence")]
_TEXT = "It has been shown that large packets vanish. We now say what we did, and when."


class UnmarkedQuestion(AskedText):
    """A manuscript whose sentences without a citation are looked at."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": _TEXT, "top": 3}]})

    format: Form = "text"
    sentences: Sentences = 10
    keys: Keys


class UnmarkedMessage(Judgement):
    """A sentence that cites nothing, and papers for it, best first."""

    line: int | None = Field(description="on which it begins, from 1; null: it was not found again")
    probability: Probability
    sentence: str
    site: SiteMessage | None = Field(description="its end; null: no key can be written there")
    papers: list[PaperCard]


class UnmarkedAnswer(BaseModel):
    """Sentences that probably need a citation, the likeliest first."""

    sentences: list[UnmarkedMessage]
    milliseconds: float = Field(description="time to read and rank, without waiting")


def add_missing(app: FastAPI, live: LiveIndex, run: Run) -> None:
    """Add the address.

    :param run: as of :func:`mpbert.serving.manuscripts.add_manuscripts`.
    """

    @app.post("/api/unmarked", responses=problems())
    async def recommend_unmarked(question: UnmarkedQuestion) -> UnmarkedAnswer:
        """Return sentences that probably need a citation and have none, and papers for each."""
        return await run(_answered, await live.edition(), question)


def _answered(edition: Edition, question: UnmarkedQuestion) -> UnmarkedAnswer:
    start, (text, form) = time.perf_counter(), (question.text, question.format)
    draft = draft_of(text, form, question.title, question.abstract)
    known = known_in(edition, manuscript_of(draft), question.keys)
    options, most = options_of(question), question.sentences
    found = find_unmarked(edition.recommender, draft, text, known, most, options)
    ends = [one.span[1] for one in found if one.span]
    site_at = dict(zip(ends, sites_at(text, form, ends), strict=True))
    sentences = []
    for one in found:
        site = one.span and site_at[one.span[1]]
        message = UnmarkedMessage(
            line=one.line,
            probability=round(one.probability, 4),
            sentence=one.answer.sentence,
            site=site and SiteMessage(start=site.start, end=site.end, **site.frame()),
            **one.answer.papers.judgement(),
            papers=[card_of(edition, one.answer, paper) for paper in one.answer.papers],
        )
        sentences.append(message)
    milliseconds = round(1000 * (time.perf_counter() - start), 1)
    return UnmarkedAnswer(sentences=sentences, milliseconds=milliseconds)
