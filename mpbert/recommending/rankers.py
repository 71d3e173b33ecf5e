"""Papers ranked for a question: by vectors, by words, or by all that is known of them."""

from collections.abc import Sequence

import numpy as np

from mpbert.methods.rankings import Ranking, fuse_reciprocal
from mpbert.recommending.companions import companion_scores
from mpbert.recommending.directory import IndexData
from mpbert.recommending.encoders import IndexEncoder
from mpbert.recommending.features import PaperFeatures
from mpbert.recommending.learnt import COMPANIONS
from mpbert.recommending.matching import PapersByToken, cosines
from mpbert.recommending.questions import Asked
from mpbert.recommending.words import Words
from mpbert.retrieval.ranking import top_k

RANKERS = ("both", "dense", "words")
_DEPTH = 200  # papers of each ranking that are fused


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
        matches = data.tables.matches
        self._matches = None if matches is None else PapersByToken(matches)
        self.features = None
        if data.fields is not None:
            self.features = PaperFeatures(data, encoder, words, self._matches, years)

    def rank(
        self, questions: Sequence[Asked], allowed: np.ndarray, top: int, ranker: str
    ) -> Ranking:
        """Return the best papers, ``top`` of them or more.

        :param questions: one for a place; of a whole paper one for each of its sentences, whose
            scores are averaged. What is accepted is the same for all.
        :param allowed: (N,) whether a paper may be ranked; one that was accepted may not.
        """
        depth, accepted = max(_DEPTH, top), questions[0].accepted
        found = [self._scores(question, ranker) for question in questions]
        rankings = []
        for name in found[0]:
            scores = np.mean([each[name] for each in found], axis=0)
            rankings.append(_ranking(scores, allowed & self._may_rank(name, scores), depth))
        if len(accepted) and not (ranker == "both" and self._weighs_companions):
            scores = companion_scores(self._lookup, accepted, len(allowed))
            rankings.append(_ranking(scores, allowed & (scores > 0), depth))
        if len(rankings) == 1:
            return rankings[0]
        return fuse_reciprocal(rankings, len(allowed))

    @property
    def _weighs_companions(self) -> bool:
        return self._learnt is not None and COMPANIONS in self._learnt.weights

    def _scores(self, question: Asked, ranker: str) -> dict[str, np.ndarray]:
        """Return (N,) scores of all papers by each part that a ranker fuses."""
        if ranker == "both" and self._learnt is not None:
            return {"fused": self._learnt.scores(self.features.of(question))}
        found, asked = {}, (question.sentences, question.sentence)
        if ranker != "words" and self._vectors.shape[1]:
            vector = self._encoder.embed_manuscript(*asked)
            if ranker == "both" and self._matches is not None:
                scores = self._matches.scores(self._encoder.weigh_manuscript(*asked))
                return {"fused": scores + cosines(self._vectors, vector)}
            found["dense"] = self._vectors @ vector
        if ranker != "dense":
            found["words"] = self._words.bm25(*question.words, self._lookup.words)
        return found

    def _may_rank(self, name: str, scores: np.ndarray) -> np.ndarray:
        """Return (N,) whether each paper may stand in the ranking of a part."""
        if name == "dense":
            return self._has_vector
        return scores > 0 if name == "words" else np.ones(len(scores), dtype=bool)


def _ranking(scores: np.ndarray, allowed: np.ndarray, depth: int) -> Ranking:
    """Return the best allowed papers of one question, ties by row."""
    rows = np.flatnonzero(allowed)
    if not len(rows):
        return Ranking(np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0)))
    chosen = scores[rows].astype(np.float64)[None]
    places, best = top_k(chosen, min(depth, len(rows)), np.array([-1]))
    return Ranking(rows[places], best)
