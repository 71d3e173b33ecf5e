"""Addresses for the page: papers for a manuscript's places or for all of it; its bibliography."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi import FastAPI

from mpbert.foundation.errors import CorpusError
from mpbert.recommending.bibliography import OwnReference, of_print, read_bibtex
from mpbert.recommending.dois import doi_url
from mpbert.recommending.manuscripts.pasted import Pasted, read_pasted, site_of
from mpbert.recommending.manuscripts.sentences import Manuscript, whole_sentences
from mpbert.recommending.options import Options
from mpbert.recommending.places import HERE, PlaceAnswer, PlaceRecommender, whole_answer
from mpbert.serving.description import problems
from mpbert.serving.live import Edition, LiveIndex
from mpbert.serving.manuscript_messages import (
    BibliographyText,
    CitedMessage,
    KnownEntries,
    ManuscriptAnswer,
    ManuscriptPlace,
    ManuscriptQuestion,
    PaperCard,
    SiteMessage,
    WholeAnswer,
    WholeQuestion,
)
from mpbert.serving.messages import AskedManuscript, RecommendationMessage

Run = Callable[..., Any]


def add_manuscripts(app: FastAPI, live: LiveIndex, run: Run) -> None:
    """Add the addresses.

    :param run: awaits a function's turn among the questions, and returns what it returns.
    """

    @app.post("/api/manuscript", responses=problems())
    async def recommend_manuscript(question: ManuscriptQuestion) -> ManuscriptAnswer:
        """Return papers for the places of a manuscript, or for that at the cursor, and why.

        Each citation is a place. Papers cited there already are not recommended, but help to
        rank the others.
        """
        return await run(_answered, await live.edition(), question)

    @app.post("/api/paper", responses=problems())
    async def recommend_whole(question: WholeQuestion) -> WholeAnswer:
        """Return papers to read for a whole paper, by its title and abstract, and why.

        Each of the first ten sentences is asked for, and what speaks for a paper is averaged.
        """
        return await run(_answered_whole, await live.edition(), question)

    @app.post("/api/bibliography", responses=problems())
    async def match_bibliography(bibliography: BibliographyText) -> KnownEntries:
        """Return which entries of a bibliography are papers of the index."""
        return await run(_matched, await live.edition(), bibliography.bibtex)


def _answered(edition: Edition, question: ManuscriptQuestion) -> ManuscriptAnswer:
    start = time.perf_counter()
    pasted = read_pasted(
        question.text, question.format, question.title, question.abstract, question.cursor
    )
    manuscript = pasted.manuscript
    places = PlaceRecommender(
        edition.recommender, manuscript, known_in(edition, manuscript, question.keys)
    )
    last = min(question.first + question.number, len(manuscript.places))
    numbers = range(question.first, last) if pasted.at_cursor is None else [pasted.at_cursor]
    found = []
    for number in numbers:
        answer = places.answer(number, options_of(question))
        found.append(_place(edition, pasted, answer, question))
    milliseconds = 1000 * (time.perf_counter() - start)
    return ManuscriptAnswer(
        title=pasted.title,
        num_places=len(manuscript.places),
        places=found,
        milliseconds=round(milliseconds, 1),
    )


def _answered_whole(edition: Edition, question: WholeQuestion) -> WholeAnswer:
    start = time.perf_counter()
    sentences = whole_sentences(question.title, question.abstract)
    options = replace(options_of(question), accepted=question.accepted)
    answer = whole_answer(edition.recommender, sentences, options)
    papers = [card_of(edition, answer, paper) for paper in answer.papers]
    milliseconds = round(1000 * (time.perf_counter() - start), 1)
    return WholeAnswer(papers=papers, milliseconds=milliseconds, **answer.papers.judgement())


def options_of(question: AskedManuscript) -> Options:
    """Return what is wanted of each answer."""
    names = ("top", "year", "ranker", "since", "filters")
    return Options(**{name: getattr(question, name) for name in names})


def known_in(edition: Edition, manuscript: Manuscript, told: dict[str, str]) -> dict[str, str]:
    """Return key -> id of the papers that a manuscript knows.

    :param told: the same, of its bibliography.
    """
    cited = {key: OwnReference() for keys in manuscript.keys for key in keys}
    printed = {key: of_print(text) for key, text in manuscript.about.printed.items()}
    told = {key: paper_id for key, paper_id in told.items() if paper_id in edition.known}
    return edition.matcher.paper_ids(cited | printed) | told


def _place(
    edition: Edition, pasted: Pasted, answer: PlaceAnswer, question: ManuscriptQuestion
) -> ManuscriptPlace:
    number = answer.place - 1
    site = site_of(pasted, number)
    return ManuscriptPlace(
        place=answer.place,
        sentence=answer.sentence,
        keys=list(answer.keys),
        cited=[
            CitedMessage(key=c.key, paper_id=c.paper_id) for c in answer.cited if c.cited == HERE
        ],
        **answer.papers.judgement(),
        site=site and SiteMessage(start=site.start, end=site.end, **site.frame()),
        papers=[card_of(edition, answer, paper) for paper in answer.papers],
    )


def card_of(edition: Edition, answer: PlaceAnswer, paper: Any) -> PaperCard:
    """Return a recommended paper with all that the index says of it."""
    whole, cited = edition.recommender.paper(paper.paper_id), answer.known(paper.paper_id)
    return PaperCard(
        **RecommendationMessage.model_validate(paper).model_dump(),
        venue=whole.venue,
        abstract=whole.abstract,
        url=paper.doi and doi_url(paper.doi),
        cited=cited and cited.cited,
        cited_as=cited and cited.key,
    )


def _matched(edition: Edition, bibtex: str) -> KnownEntries:
    references: dict[str, OwnReference] = {}
    problem = ""
    try:
        references, problem = read_bibtex(bibtex)
    except CorpusError as error:
        problem = str(error)
    keys = edition.matcher.paper_ids(references)
    return KnownEntries(num_entries=len(references), keys=keys, problem=problem)
