"""Papers ranked for a question: by vectors, by words, or by all that is known of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.methods.rankings import Ranking, fuse_reciprocal
from mpbert.recommending.companions import companion_scores
from mpbert.recommending.directory import IndexData
from mpbert.recommending.encoders import IndexEncoder
from mpbert.recommending.features import PaperFeatures
from mpbert.recommending.learnt import COMPANIONS, COSINE
from mpbert.recommending.matching import cosines, near_cosines
from mpbert.recommending.questions import Asked
from mpbert.recommending.words import Words
from mpbert.retrieval.ranking import top_k

RANKERS = ("both", "dense", "words")
_DEPTH = 200  # papers of each ranking that are fused
_TOGETHER = 4  # questions of which one product costs less than as many single ones


@dataclass(frozen=True)
class Estimate:
    """Cosines of one question among several, from which its ranking can be told exactly.

    :param vector: (D,) of the manuscript.
    :param cosines: (N,) off by ``slack`` at most.
    """

    vector: np.ndarray
    cosines: np.ndarray
    slack: float


@dataclass(frozen=True)
class AskedFor:
    """A question that was checked, and what is wanted of its answer.

    :param allowed: (N,) whether a paper may be ranked.
    :param estimate: what was worked out together with other questions.
    """

    question: Asked
    allowed: np.ndarray
    top: int
    ranker: str
    estimate: Estimate | None = None


class PaperRanker:
    """Ranks the papers of an index.

    ``dense`` ranks by the cosine, ``words`` by BM25. ``both`` ranks by the learnt fusion, see
    :mod:`mpbert.recommending.learnt`. Where none was learnt, it adds exact matches to the cosine,
    or without them fuses the first 200 papers of ``dense`` and ``words`` by reciprocal ranks.
    Companions of accepted papers are a feature of the learnt fusion; where they have no weight,
    their ranking is fused with the other by reciprocal ranks.

    :param years: (N,) of papers; 0 where a paper has none.
    """

    def __init__(
        self, data: IndexData, encoder: IndexEncoder, words: Words, years: np.ndarray
    ) -> None:
        self._lookup, self._vectors = data.lookup, data.tables.vectors
        self._has_vector = self._vectors.any(axis=1)
        self._encoder, self._words, self._learnt = encoder, words, data.learnt
        self._matches = data.tables.matches
        self.features = None
        if data.fields is not None:
            self.features = PaperFeatures(data, encoder, words, years)

    def estimates(self, questions: Sequence[Asked]) -> list[Estimate | None]:
        """Return what several questions have in common, for ``both``; None: it would not pay."""
        if self._learnt is None or COSINE not in self._learnt.weights or len(questions) < _TOGETHER:
            return [None] * len(questions)
        embed = self._encoder.embed_manuscript
        asked = np.stack([embed(question.sentences, question.sentence) for question in questions])
        found, slack = near_cosines(self._vectors, asked)
        return [Estimate(vector, row, slack) for vector, row in zip(asked, found, strict=True)]

    def rank(
        self,
        question: Asked,
        allowed: np.ndarray,
        top: int,
        ranker: str,
        estimate: Estimate | None = None,
    ) -> Ranking:
        """Return the best papers of one question, ``top`` of them or more.

        :param allowed: (N,) whether a paper may be ranked; one that was accepted may not.
        :param estimate: changes the time that it takes, and no digit of the ranking.
        """
        depth = max(_DEPTH, top)
        if ranker == "both" and self._learnt is not None:
            rankings = [self._learnt_ranking(question, allowed, depth, estimate)]
        else:
            rankings = self._unlearnt(question, allowed, depth, ranker)
        if len(question.accepted) and not (ranker == "both" and self._weighs_companions):
            scores = companion_scores(self._lookup, question.accepted, len(allowed))
            rankings.append(_ranking(scores, allowed & (scores > 0), depth))
        if len(rankings) == 1:
            return rankings[0]
        return fuse_reciprocal(rankings, len(allowed))

    def _learnt_ranking(
        self, question: Asked, allowed: np.ndarray, depth: int, estimate: Estimate | None
    ) -> Ranking:
        if estimate is None:
            return _ranking(self._learnt.scores(self.features.of(question)), allowed, depth)
        features = self.features.of(question, estimate.cosines)
        about = self._learnt.scores(features)
        # the first papers are among those whose score may reach the last of the first
        slack = abs(self._learnt.weights[COSINE]) * estimate.slack
        rows = _within(np.where(allowed, about, -np.inf), depth, 2 * slack)
        features = {name: values[rows] for name, values in features.items()}
        features[COSINE] = cosines(self._vectors[rows], estimate.vector)
        found = _ranking(self._learnt.scores(features), np.ones(len(rows), dtype=bool), depth)
        return Ranking(rows[found.rows], found.scores)

    @property
    def _weighs_companions(self) -> bool:
        return self._learnt is not None and COMPANIONS in self._learnt.weights

    def _unlearnt(
        self, question: Asked, allowed: np.ndarray, depth: int, ranker: str
    ) -> list[Ranking]:
        """Return the rankings that a ranker asks for, of the allowed papers (N,)."""
        found, asked = [], (question.sentences, question.sentence)
        if ranker != "words" and self._vectors.shape[1]:
            vector = self._encoder.embed_manuscript(*asked)
            if ranker == "both" and self._matches is not None:
                scores = self._matches.scores(self._encoder.weigh_manuscript(*asked))
                return [_ranking(scores + cosines(self._vectors, vector), allowed, depth)]
            found.append(_ranking(self._vectors @ vector, allowed & self._has_vector, depth))
        if ranker != "dense":
            scores = self._words.bm25(*question.words, self._lookup.words)
            found.append(_ranking(scores, allowed & (scores > 0), depth))
        return found


def _within(scores: np.ndarray, depth: int, slack: float) -> np.ndarray:
    """Return, ascending, the rows of finite scores that are less than the ``depth``-th by no more.

    :param scores: (N,); -inf of what may not be ranked.
    """
    depth = min(depth, len(scores))
    last = np.partition(scores, len(scores) - depth)[len(scores) - depth]
    return np.flatnonzero((scores >= last - slack) & (scores > -np.inf))


def _ranking(scores: np.ndarray, allowed: np.ndarray, depth: int) -> Ranking:
    """Return the best allowed papers of one question, ties by row."""
    num_allowed = np.count_nonzero(allowed)
    if not num_allowed:
        return Ranking(np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0)))
    scores = np.where(allowed, scores, -np.inf).astype(np.float64, copy=False)
    return Ranking(*top_k(scores[None], min(depth, num_allowed), np.array([-1])))
