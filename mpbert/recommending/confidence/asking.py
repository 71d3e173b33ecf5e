"""Answers whose papers are known, of an index and of parts of it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from mpbert.corpus.queries import Queries, fixed_sample
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.years import were_there
from mpbert.foundation.progress import progress
from mpbert.foundation.seeding import named_rng
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.confidence.learning import (
    FOREIGN,
    WITHOUT_ALL,
    WITHOUT_CITED,
    KnownAnswers,
)
from mpbert.recommending.contexts import questions_of
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.questions import Asked

_DEPTH = 200  # papers of a ranking
_FOREIGN = 300  # questions of another corpus


def answers_to_learn_from(
    index: AnsweringIndex,
    store: CorpusStore,
    queries: Queries,
    foreign: Iterable[list[Asked]],
    part: int = 0,
) -> KnownAnswers:
    """Return the answers of an index that learnt nothing to queries of its corpus.

    Without some papers it answers by the ranking of all.

    :param foreign: questions of other corpora, whose papers it does not hold.
    :param part: so many papers beside the cited ones are all that it holds, at random; 0: all.
    """
    answers = KnownAnswers()
    for questions, allowed, cited, _ in _asked(index, store, queries, part):
        rows, scores = _ranked(index, questions, allowed)
        if len(rows):
            signs_of = partial(index.signs, questions, is_learnt=False)
            answers.add_all(signs_of, rows, scores, np.isin(rows, cited))
    return _with_foreign(answers, index, foreign, part)


def answers_to_measure(
    index: AnsweringIndex,
    store: CorpusStore,
    split: str,
    queries: Queries,
    foreign: Iterable[list[Asked]],
    part: int = 0,
) -> KnownAnswers:
    """Return the answers of an index to queries of its corpus, and of what parts of it would say.

    :param split: that the queries are of.
    :param part: as of :func:`answers_to_learn_from`.
    :param foreign: questions of other corpora, whose papers it does not hold.
    """
    answers, by_paper = KnownAnswers(), _cited_by_paper(store.queries(split, "global"))
    for questions, allowed, cited, citing in _asked(index, store, queries, part):
        rows, scores = _ranked(index, questions, allowed)
        if not len(rows):
            continue
        signs = index.signs(questions, rows, scores)
        answers.add_whole(signs, np.isin(rows, cited))
        for kind, left_out in ((WITHOUT_CITED, cited), (WITHOUT_ALL, by_paper.get(citing, cited))):
            left = allowed.copy()
            left[left_out] = False
            if len(signs := _signs(index, questions, left)):
                answers.add(signs, kind)
    return _with_foreign(answers, index, foreign, part)


def foreign_questions(
    index: AnsweringIndex, store: CorpusStore, queries: Queries
) -> list[list[Asked]]:
    """Return some questions of another corpus, a random sample; any index may read them.

    :param store: of the other corpus.
    """
    some = queries.take(fixed_sample(queries, _FOREIGN))
    return list(questions_of(index, store, some))


def _asked(
    index: AnsweringIndex, store: CorpusStore, queries: Queries, part: int
) -> Iterator[tuple[list[Asked], np.ndarray, np.ndarray, int]]:
    """Yield questions, (N,) what may be ranked, rows of the cited papers, and the citing row."""
    asked, rng = questions_of(index, store, queries), named_rng(1, "parts of a library")
    for number in progress(range(len(queries)), "ask how sure answers are", "question"):
        citing = int(queries.citing_rows[number])
        allowed = were_there(store.years, int(queries.years[number]))
        allowed[citing] = False
        cited = queries.cited(number)
        if part:
            allowed &= _part(rng, len(allowed), part) | np.isin(np.arange(len(allowed)), cited)
        yield next(asked), allowed, cited, citing


def _part(rng: np.random.Generator, number: int, part: int) -> np.ndarray:
    """Return (N,) whether each paper is in a random part."""
    return np.isin(np.arange(number), rng.choice(number, min(part, number), replace=False))


def _ranked(
    index: AnsweringIndex, questions: list[Asked], allowed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    ranking = index.rank(questions, allowed, _DEPTH)
    rows = ranking.rows[0][ranking.rows[0] >= 0]
    return rows, ranking.scores[0][: len(rows)]


def _signs(index: AnsweringIndex, questions: list[Asked], allowed: np.ndarray) -> np.ndarray:
    rows, scores = _ranked(index, questions, allowed)
    return index.signs(questions, rows, scores)


def _with_foreign(
    answers: KnownAnswers, index: AnsweringIndex, foreign: Iterable[list[Asked]], part: int
) -> KnownAnswers:
    number, rng = len(index), named_rng(1, "parts of a library")
    for questions in foreign:
        allowed = _part(rng, number, part or number)
        if len(signs := _signs(index, _anew(index, questions), allowed)):
            answers.add(signs, FOREIGN)
    return answers


def _anew(index: AnsweringIndex, questions: Sequence[Asked]) -> list[Asked]:
    """Return questions of another index as this one reads them."""
    first = questions[0]
    if first.is_of_whole:
        return index.questions_of_whole(first.sentences[: len(questions)], None)
    place = np.array([first.sentence])
    return [index.question(Manuscript(list(first.sentences), place, [()]), 0)]


def _cited_by_paper(queries: Queries) -> dict[int, np.ndarray]:
    """Return the rows of papers that each citing paper cites."""
    rows = queries.citing_rows.tolist()
    return {citing: queries.cited(number) for number, citing in enumerate(rows)}
