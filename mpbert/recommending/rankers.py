"""Papers ranked for a question: by vectors, by words, or by all that is known of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mpbert.methods.rankings import Ranking
from mpbert.recommending.best import (
    beside,
    beside_these,
    best_of,
    mean_of,
    nearest,
    nearest_beside,
    within,
)
from mpbert.recommending.companions import companion_scores
from mpbert.recommending.directory import IndexData
from mpbert.recommending.features import PaperFeatures
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.learnt import COMPANIONS, COSINE, LearntWeights
from mpbert.recommending.learnt_trees import Learnt
from mpbert.recommending.matching import cosines, near_cosines
from mpbert.recommending.near import Near, NearPapers, settled
from mpbert.recommending.options import Options
from mpbert.recommending.questions import Asked
from mpbert.recommending.signals import DEPTH
from mpbert.recommending.words import Words
from mpbert.vectors.matches import TokenWeights

_DEPTH = 200  # papers of each ranking that are fused
_TOLD = 100  # papers of a ranking whose scores tell how sure it is
_TOGETHER = 4  # questions of which one product costs less than as many single ones


class Estimate(NamedTuple):
    """Cosines of one question among several, from which its ranking can be told exactly.

    :param vector: (D,) of the manuscript.
    :param cosines: (N,) off by ``slack`` at most.
    :param weights: (1, V) of the manuscript's tokens; None: exact matches do not count.
    """

    vector: np.ndarray
    cosines: np.ndarray
    slack: float
    weights: TokenWeights | None


@dataclass(frozen=True)
class AskedFor:
    """Questions that were checked, and what is wanted of their answer.

    :param questions: that of a place; of a whole paper one for each of its sentences.
    :param words: (U,) columns of the known stems of all of them, and (U,) their counts.
    :param allowed: (N,) whether a paper may be ranked.
    :param warning: one line where the index shares no language with the text; else empty.
    :param estimate: what was worked out together with the questions of others.
    """

    questions: list[Asked]
    words: tuple[np.ndarray, np.ndarray]
    allowed: np.ndarray
    options: Options
    warning: str
    estimate: Estimate | None = None


class PaperRanker:
    """Ranks the papers of an index.

    ``dense`` ranks by the cosine, ``words`` by BM25. ``both`` ranks by the learnt fusion, and its
    first papers by learnt trees, see :mod:`mpbert.recommending.learnt` and
    :mod:`mpbert.recommending.learnt_trees`. Where none was learnt, it adds exact matches
    to the cosine, or without them fuses the first 200 papers of ``dense`` and ``words`` by
    reciprocal ranks. An encoder that was trained elsewhere counts half as much as words: its score,
    the cosine with what matches, is a share of its best, as is that of ``words``.
    Companions of accepted papers are a feature of the learnt fusion; where they have no weight,
    their ranking is fused with the other by reciprocal ranks. Without companions scores stay.
    A whole paper asks several questions, whose features are averaged. What ranks it was learnt for
    whole papers; without that, the weights for places rank it, and no trees.

    :param years: (N,) of papers; 0 where a paper has none.
    :param near: proposes papers by their vectors; None: the cosines of all are computed.
    """

    def __init__(
        self,
        data: IndexData,
        encoder: IndexEncoder,
        words: Words,
        years: np.ndarray,
        near: NearPapers | None = None,
    ) -> None:
        self._lookup, self._vectors = data.lookup, data.tables.vectors
        self._encoder, self._words = encoder, words
        self._places = data.places
        self._wholes = data.wholes or (data.places and Learnt(data.places.fusion))
        self._matches, self._papers_near = data.tables.matches, near
        self._is_foreign = data.is_foreign
        self.features = None
        if data.fields is not None:
            self.features = PaperFeatures(data, encoder, words, years)

    @cached_property
    def _has_vector(self) -> np.ndarray:
        return self._vectors.any(axis=1)

    def estimates(self, questions: Sequence[Asked]) -> list[Estimate | None]:
        """Return what several questions have in common, for ``both``; None: it would not pay."""
        weights = {} if self._places is None else self._places.fusion.weights
        pays = self._papers_near is None and COSINE in weights and len(questions) >= _TOGETHER
        if not pays:
            return [None] * len(questions)
        asked = [(question.sentences, question.sentence) for question in questions]
        vectors, weighed = self._encoder.embed_manuscripts(asked), [None] * len(asked)
        if self._matches is not None:
            weighed = self._encoder.weigh_manuscripts(asked)
        found, slack = near_cosines(self._vectors, vectors)
        each = zip(vectors, found, weighed, strict=True)
        return [Estimate(vector, row, slack, of_tokens) for vector, row, of_tokens in each]

    def rankings(
        self,
        questions: Sequence[Asked],
        allowed: np.ndarray,
        top: int,
        ranker: str,
        estimate: Estimate | None = None,
    ) -> list[Ranking]:
        """Return the best papers, ``top`` of them or more; of several rankings, to be fused.

        :param questions: as of :class:`AskedFor`, like ``allowed``; all accept the same papers.
        :param estimate: of a single question for the learnt fusion; it changes the time that it
            takes, and no digit of the ranking.
        """
        accepted = questions[0].accepted
        learnt = self._learnt_for(questions[0]) if ranker == "both" else None
        fuses = len(accepted) or (ranker == "both" and self.fuses_ranks(questions[0]))
        depth = max(_DEPTH if fuses or learnt is not None else _TOLD, top)
        if estimate is not None:
            rankings = [self._estimated(questions[0], allowed, depth, estimate)]
        elif learnt is not None:
            rankings = [self._by_learnt(questions, allowed, depth)]
        elif len(questions) == 1 and (ranker == "words" or not self._vectors.shape[1]):
            rankings = [self._words.best(*questions[0].words, allowed, depth)]
        else:
            rankings = self._averaged(questions, allowed, depth, ranker)
        if len(accepted) and (learnt is None or COMPANIONS not in learnt.fusion.weights):
            scores = companion_scores(self._lookup, accepted, len(allowed))
            if (may_rank := allowed & (scores > 0)).any():
                rankings.append(best_of(scores, may_rank, depth))
        return rankings

    def fuses_ranks(self, question: Asked) -> bool:
        """Whether ``both`` fuses several lists by reciprocal ranks, which say little of a paper."""
        learnt = self._learnt_for(question)
        if learnt is not None:
            return len(question.accepted) > 0 and COMPANIONS not in learnt.fusion.weights
        adds = self._is_foreign or self._matches is not None or not self._vectors.shape[1]
        return len(question.accepted) > 0 or not adds

    def by_words(self, questions: Sequence[Asked], rows: np.ndarray) -> np.ndarray:
        """Return the (M,) mean scores of some papers by words."""
        order, found = np.argsort(rows), np.empty(len(rows))  # ascending rows are found sooner
        each = [self._words.ranked.exact(*one.words, rows[order]) for one in questions]
        found[order] = mean_of(each)
        return found

    def _averaged(
        self, questions: Sequence[Asked], allowed: np.ndarray, depth: int, ranker: str
    ) -> list[Ranking]:
        """Return the ranking of each part, without what was learnt, by its mean over questions."""
        nears = [None if ranker == "words" else self._near(each) for each in questions]
        if len(nears) == 1 and nears[0] is not None and self._matches is None:
            proposed = self._proposed(questions[0], nears[0], allowed, depth, ranker)
            if len(enough := [each for each in proposed if each is not None]) == len(proposed):
                return enough
        asked = zip(questions, nears, strict=True)
        found = [self._scores(*each, ranker, allowed) for each in asked]
        known, rankings = [near for near in nears if near is not None], []
        for name in found[0]:
            allowed_here = allowed & self._has_vector if name == "dense" else allowed
            scores = settled(
                lambda name=name: mean_of([each[name]() for each in found]),
                *(known if name != "words" else [], allowed_here, depth),
            )
            may_rank = allowed_here & (scores > 0) if name == "words" else allowed_here
            rankings.append(best_of(scores, may_rank, depth))
        return rankings

    def _proposed(
        self, question: Asked, near: Near, allowed: np.ndarray, depth: int, ranker: str
    ) -> list[Ranking | None]:
        """Return the ranking of each part from what a store proposed; None: that is too little."""
        if ranker == "both" and self._is_foreign:
            return [nearest_beside(self._words.ranked, question.words, near, allowed, depth)]
        found = [nearest(near, allowed, depth)]
        if ranker == "both":
            found.append(self._words.best(*question.words, allowed, depth))
        return found

    def _estimated(
        self, question: Asked, allowed: np.ndarray, depth: int, estimate: Estimate
    ) -> Ranking:
        """Return the ranking of a question with an estimate, exact, by fusion and trees."""
        fusion = self._places.fusion
        found = self.features.of(question, estimate.cosines.copy(), estimate.weights)
        scores = fusion.scores(found)
        # the first papers are among those whose score may reach the last of the first
        slack = abs(fusion.weights[COSINE]) * estimate.slack
        rows = within(np.where(allowed, scores, -np.inf), depth, 2 * slack)
        found[COSINE][rows] = cosines(self._vectors[rows], estimate.vector)
        scores[rows] = fusion.scores({name: values[rows] for name, values in found.items()})
        fused = best_of(scores[rows], np.ones(len(rows), dtype=bool), depth)
        fused = Ranking(rows[fused.rows], fused.scores)
        if self._places.trees is None:
            return fused
        # trees read where the first papers stand among all by their cosines
        first = fused.first(DEPTH).rows[0]
        rows = beside_these(found[COSINE], first, allowed, estimate.slack)
        found[COSINE][rows] = cosines(self._vectors[rows], estimate.vector)
        return self._reranked(question, found, fused, scores, allowed)

    def _learnt_for(self, question: Asked) -> Learnt | None:
        return self._wholes if question.is_of_whole else self._places

    def _by_learnt(self, questions: Sequence[Asked], allowed: np.ndarray, depth: int) -> Ranking:
        """Return the ranking by the learnt fusion, its first papers by trees where there are."""
        fusion = self._learnt_for(questions[0]).fusion
        nears = [self._near(question, fusion) for question in questions]
        known = [near for near in nears if near is not None]
        found = self.features.of_all(questions, [near.values for near in known])

        def scores() -> np.ndarray:
            if len(known) > 1:  # their values change
                found[COSINE] = np.mean([near.values for near in known], axis=0, dtype=np.float64)
            return fusion.scores(found)

        total = settled(scores, known, allowed, depth)
        return self._reranked(questions[0], found, best_of(total, allowed, depth), total, allowed)

    def _reranked(
        self,
        question: Asked,
        found: dict[str, np.ndarray],
        fused: Ranking,
        scores: np.ndarray,
        allowed: np.ndarray,
    ) -> Ranking:
        """Return a ranking by the learnt fusion, its first papers by trees where there are."""
        learnt = self._learnt_for(question)
        if learnt.trees is None:
            return fused
        rows = fused.first(DEPTH).rows[0]
        companions = learnt.fusion.weights.get(COMPANIONS, 0.0) * found[COMPANIONS][rows]
        known, year = self.features.known, self.features.year_of(question)
        return learnt.trees.rerank(found, fused, scores[rows] - companions, allowed, known, year)

    def _near(self, question: Asked, fusion: LearntWeights | None = None) -> Near | None:
        """Return the cosines that a store knows; None: they are computed, or lower the score."""
        if self._papers_near is None or (fusion is not None and fusion.falls_with(COSINE)):
            return None
        vector = self._encoder.embed_manuscript(question.sentences, question.sentence)
        return self._papers_near.of(vector, question.year)

    def _scores(
        self, question: Asked, near: Near | None, ranker: str, allowed: np.ndarray
    ) -> dict[str, Callable[[], np.ndarray]]:
        """Return what computes the (N,) scores of all papers by each part that a ranker fuses.

        :param allowed: (N,) whether a paper may be ranked.
        """
        found, asked = {}, (question.sentences, question.sentence)
        if ranker != "words" and self._vectors.shape[1]:
            vector = self._encoder.embed_manuscript(*asked)
            values = cosines(self._vectors, vector) if near is None else near.values
            if ranker == "both" and (self._matches is not None or self._is_foreign):
                matches = 0.0
                if self._matches is not None:
                    matches = self._matches.scores(self._encoder.weigh_manuscript(*asked))
                if not self._is_foreign:
                    return {"fused": lambda: matches + values}
                words = self._words.bm25(*question.words, self._lookup.words)
                nears = [] if near is None else [near]
                return {"fused": beside(words, lambda: matches + values, nears, allowed)}
            found["dense"] = lambda: values
        if ranker != "dense":
            words = self._words.bm25(*question.words, self._lookup.words)
            found["words"] = lambda: words
        return found
