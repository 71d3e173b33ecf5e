"""How well passages tell the papers that a place cites from others: measured without labels."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.progress import progress
from mpbert.foundation.seeding import named_rng
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.contexts import questions_of
from mpbert.recommending.records import Passage
from mpbert.retrieval.pool import candidates_by_year

_TOP = 10
CITED, ANSWER, RANDOM = "cited", "of the same answer", "random"


@dataclass(frozen=True)
class Shown:
    """The passage of a paper at a context.

    :param kind: ``CITED`` there; not cited and one of the first ten (``ANSWER``), or ``RANDOM``.
    :param passage: None: none is shown.
    """

    context: int
    sentence: str
    paper_id: str
    kind: str
    passage: Passage | None


def shown_passages(
    index: AnsweringIndex, store: CorpusStore, split: str, number: int, seed: int
) -> list[Shown]:
    """Return the passages at a random sample of contexts of a split.

    Cited papers are those of the first ten; beside them are the others of these, and ten random
    ones of the same year or earlier.
    """
    contexts = store.contexts(split)
    rng = named_rng(seed, "evidence")
    contexts = contexts.take(np.sort(rng.permutation(len(contexts))[:number]))
    groups = candidates_by_year(store, contexts, split, "known")
    candidates = {place: papers for places, papers in groups for place in places.tolist()}
    asked = questions_of(index, store, contexts)
    found: list[Shown] = []
    for place in progress(range(len(contexts)), "ask for passages", "question"):
        (question,) = next(asked)
        allowed = candidates[place].copy()
        allowed[contexts.citing_rows[place]] = False
        ranked = index.rank([question], allowed, _TOP).first(_TOP).rows[0]
        ranked = ranked[ranked >= 0]
        start, end = contexts.cited_offsets[place : place + 2]
        is_cited = np.isin(ranked, contexts.cited_rows[start:end])
        allowed[ranked] = allowed[contexts.cited_rows[start:end]] = False
        others = rng.permutation(np.flatnonzero(allowed))[:_TOP]
        kinds = [CITED if each else ANSWER for each in is_cited] + [RANDOM] * len(others)
        rows = np.concatenate([ranked, others])
        sentence = question.sentences[question.sentence]
        for row, kind, passage in zip(
            rows.tolist(), kinds, index.passages(rows, question.words), strict=True
        ):
            found.append(Shown(place, sentence, index.paper_ids[row], kind, passage))
    return found


def auroc(found: list[Shown], kind: str) -> float:
    """Return how often the passage of a cited paper has a higher score than another at its place.

    The mean over contexts; where both are equal, or none is shown, it counts half.

    :param kind: of the other.
    """
    return float(np.mean(list(_won(found, kind))))


def _won(found: list[Shown], kind: str) -> Iterator[float]:
    scores: dict[int, dict[str, list[float]]] = {}
    for one in found:
        of_place = scores.setdefault(one.context, {CITED: [], ANSWER: [], RANDOM: []})
        of_place[one.kind].append(one.passage.score if one.passage else 0.0)
    for of_place in scores.values():
        own, others = np.array(of_place[CITED])[:, None], np.array(of_place[kind])[None]
        if own.size and others.size:
            yield float(((own > others) + 0.5 * (own == others)).mean())
