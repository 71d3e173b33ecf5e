"""How well sentences that cite are told from others, and their papers found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.evaluation.reliability import auroc
from mpbert.foundation.progress import progress
from mpbert.foundation.seeding import named_rng
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.manuscripts.marks import Mention
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.options import Options
from mpbert.recommending.unmarked.labels import LabelledPaper
from mpbert.recommending.unmarked.worthiness import Worthiness

ASKED = 10  # sentences of a paper, as recommend --unmarked asks about
_FIRST = 5
_CUES = re.compile(
    r"(?i)\bet al|propos|previous|recent|(?:has|have) been|introduced|shown|related work|such as"
)


@dataclass(frozen=True)
class Told:
    """How well one score tells sentences that cite from others.

    :param first: part that cites of the first 1 %, of the first 5 %, and of the first 5 a paper.
    """

    name: str
    auroc: float
    first: tuple[float, float, float]


@dataclass(frozen=True)
class Answered:
    """How well the papers of sentences that are asked about are found.

    :param asked: sentences with the highest probabilities, 10 a paper; ``cite`` the part of them
        that cites.
    :param questions: a sample of those that cite a paper of the index; ``found`` the part of which
        one is among the first ten.
    """

    asked: int
    cite: float
    questions: int
    found: float


def told(worthiness: Worthiness, papers: Sequence[LabelledPaper]) -> list[Told]:
    """Return the rows of the classifier and of three simple scores."""
    ways = {
        "classifier": lambda paper: worthiness.probabilities(paper.texts),
        "words such as 'et al', 'proposed'": lambda paper: [
            len(_CUES.findall(text)) for text in paper.texts
        ],
        "length": lambda paper: list(map(len, paper.texts)),
        "early in the paper": lambda paper: -np.arange(len(paper.texts)) / len(paper.texts),
    }
    known = [paper.known for paper in papers]
    rows = []
    for name, way in ways.items():
        scores = [np.asarray(way(paper), float)[paper.labelled] for paper in papers]
        rows.append(_told(name, scores, known))
    return rows


def _told(name: str, scores: list[np.ndarray], known: list[np.ndarray]) -> Told:
    all_scores, labels = np.concatenate(scores), np.concatenate(known)
    order = named_rng(1, "ties").permutation(len(labels))
    order = order[np.argsort(-all_scores[order], kind="stable")]
    shares = [float(labels[order[: max(len(order) // part, 1)]].mean()) for part in (100, 20)]
    firsts = [
        of[np.argsort(-own, kind="stable")[:_FIRST]] for own, of in zip(scores, known, strict=True)
    ]
    per_paper = float(np.concatenate(firsts).mean())
    return Told(name, auroc(all_scores, labels), (*shares, per_paper))


def found(
    worthiness: Worthiness, papers: Sequence[LabelledPaper], index: AnsweringIndex, most: int
) -> Answered:
    """Return how often a cited paper is among the first ten of a sentence that is asked about.

    :param index: of papers that are older than ``papers``.
    :param most: questions that are asked at most, a random sample.
    """
    asked: list[tuple[LabelledPaper, int]] = []
    for paper in papers:
        scores = worthiness.probabilities(paper.texts)[paper.labelled]
        first = paper.labelled[np.argsort(-scores, kind="stable")[:ASKED]]
        asked += [(paper, number) for number in first.tolist()]
    cite = [bool(paper.labels[number]) for paper, number in asked]
    known = set(index.paper_ids)
    able = [(paper, number) for paper, number in asked if known & set(paper.cited[number])]
    rng = named_rng(1, "questions")
    chosen = rng.permutation(len(able))[:most].tolist()
    hits = [_is_found(index, *able[one]) for one in progress(chosen, "ask", "question")]
    return Answered(len(asked), float(np.mean(cite)), len(chosen), float(np.mean(hits)))


def _is_found(index: AnsweringIndex, paper: LabelledPaper, number: int) -> bool:
    head = [paper.title, *paper.abstract]
    place = np.array([len(head) + number])
    manuscript = Manuscript([*head, *paper.texts], place, [Mention()])
    answer = index.answer(index.asked_at(manuscript, 0, Options(top=10, year=paper.year)))
    return bool({one.paper_id for one in answer} & set(paper.cited[number]))
