"""The recommender: a place in a manuscript -> ranked papers, and why."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mpbert.foundation.errors import ConfigError
from mpbert.methods.rankings import Ranking
from mpbert.recommending.directory import IndexData, read_index
from mpbert.recommending.encoders import IndexEncoder, encoder_of_index
from mpbert.recommending.features import PaperFeatures
from mpbert.recommending.language import shared
from mpbert.recommending.lookup import Postings
from mpbert.recommending.manuscripts.sentences import Manuscript, manuscript_at
from mpbert.recommending.near import NearPapers, read_stored
from mpbert.recommending.options import check_ranker
from mpbert.recommending.papers import IndexedPapers
from mpbert.recommending.questions import Asked, around, question_at, questions_of_whole
from mpbert.recommending.rankers import AskedFor, PaperRanker
from mpbert.recommending.reasons import Reasons
from mpbert.recommending.records import CitingSentence, Recommendation, Why
from mpbert.recommending.words import Words

_SHARED = 200  # papers among which scores are shared out
_LEAST = 1e-12  # distance of two scores that differ


class IndexRecommender(IndexedPapers):
    """Recommends papers of one index. Reading only: threads may share one recommender."""

    def __init__(
        self, data: IndexData, encoder: IndexEncoder, near: NearPapers | None = None
    ) -> None:
        self._data, self._encoder = data, encoder
        super().__init__(data.tables.papers)
        self._words = Words(data.lookup, data.vocabulary, len(self.paper_ids))
        self._ranker = PaperRanker(data, encoder, self._words, self._years, near)
        self._reasons = Reasons(data.tables, data.lookup, self._words, self.paper_ids)

    @classmethod
    def open(cls, path: Path | str, store: str = "") -> "IndexRecommender":
        """Return the recommender of an index.

        :param store: URL of a store that proposes papers by their vectors, and is brought up to
            date first; empty: the vectors are searched here.
        :raises IndexFormatError: it is no index, of another version, or damaged.
        :raises EncoderError: its encoder is damaged.
        :raises StoreUnavailableError: the store does not answer; so do all answers then.
        """
        path = Path(path)
        data, near = read_stored(path, store) if store else (read_index(path), None)
        return cls(data, encoder_of_index(path, data), near)

    @property
    def vectors(self) -> np.ndarray:
        """(N, D) float32 citation vectors of length 1, in the order of ``paper_ids``, mapped."""
        return self._data.tables.vectors

    @property
    def word_postings(self) -> Postings:
        """Papers by the words of all that is searched."""
        return self._data.lookup.words

    def recommend(
        self,
        text: str,
        place: int | None = None,
        title: str = "",
        abstract: str = "",
        top: int = 10,
        year: int | None = None,
        accepted: Sequence[str] = (),
        ranker: str = "both",
    ) -> list[Recommendation]:
        """Return papers for a place in a text, best first.

        ``dense`` ranks by cosine similarity of manuscript and citation vectors, ``words`` by BM25
        of the three sentences around the place over title, abstract, citing sentences, and bodies
        where the index has them. ``both`` ranks by the fusion that the index learnt, and the first
        100 papers also by its trees (``mpbert.recommending.learnt_trees``). An index that
        learnt none adds exact matches to the cosine; without matches it fuses the first 200 papers
        of ``dense`` and ``words`` by reciprocal ranks. An encoder that was trained on another
        corpus counts half as much as words; without an encoder it ranks by words alone.
        Papers that were accepted here are not returned; what is cited together with them gains, by
        a learnt weight, or as one more ranking that is fused by reciprocal ranks.

        :param text: the manuscript around the place; of a long one, the 10,000 characters before.
        :param place: a citation belongs before this character of ``text``, counted from 0 in
            Unicode code points; None for its end.
        :param title: of the manuscript, and ``abstract``; both are read as in training.
        :param year: papers of later years are left out; those without a year stay.
        :param accepted: ids of papers already accepted at this place.
        :param ranker: ``both``, ``dense`` or ``words``.
        :returns: up to ``top`` papers; fewer where the index is small, or no word is known.
        :raises ManuscriptError: the place is outside of the text, or there is no word.
        :raises UnknownPaperError: an accepted paper is not in the index.
        :raises ConfigError: ``top`` is below 1, no such ranker, or no vectors for ``dense``.
        """
        return self.answer(self.asked(text, place, title, abstract, top, year, accepted, ranker))

    def asked(
        self,
        text: str,
        place: int | None = None,
        title: str = "",
        abstract: str = "",
        top: int = 10,
        year: int | None = None,
        accepted: Sequence[str] = (),
        ranker: str = "both",
    ) -> AskedFor:
        """Return what :meth:`answer` answers; arguments and errors as of :meth:`recommend`."""
        manuscript = manuscript_at(text, place, title, abstract)
        found = self._asked_at(manuscript, 0, top, year, accepted, ranker)
        return replace(found, warning=self.warning(manuscript))

    def recommend_at(
        self,
        manuscript: Manuscript,
        place: int,
        top: int = 10,
        year: int | None = None,
        accepted: Sequence[str] = (),
        ranker: str = "both",
    ) -> list[Recommendation]:
        """Return papers for a numbered place of a manuscript; all else as :meth:`recommend`."""
        return self.answer(self._asked_at(manuscript, place, top, year, accepted, ranker))

    def together(self, asked: Sequence[AskedFor]) -> list[AskedFor]:
        """Return the same questions, read together: :meth:`answer` is faster then, and the same."""
        fused = [one for one in asked if one.ranker == "both"]
        estimates = iter(self._ranker.estimates([one.question for one in fused]))
        return [
            replace(one, estimate=next(estimates)) if one.ranker == "both" else one for one in asked
        ]

    def answer(self, asked: AskedFor) -> list[Recommendation]:
        """Return the papers for a question, best first."""
        ranking = self._ranker.rank(
            [asked.question], asked.allowed, asked.top, asked.ranker, asked.estimate
        )
        return self._explained(ranking, asked.top, asked.question.words, asked.question.accepted)

    def recommend_whole(
        self,
        sentences: Sequence[str],
        top: int = 10,
        year: int | None = None,
        accepted: Sequence[str] = (),
        ranker: str = "both",
    ) -> list[Recommendation]:
        """Return papers to read for a whole paper: its first ten sentences are asked together.

        ``both`` ranks by the weights and trees that were learnt for whole papers; without them by
        the weights for places, without trees.

        :param sentences: of title and abstract, one at least.
        :param accepted: ids of papers that are known already; all else as :meth:`recommend`.
        """
        accepted_rows, allowed = self._may_answer(top, year, accepted, ranker)
        questions = questions_of_whole(sentences, self._words, year, accepted_rows)
        words = self._words.counts(" ".join(sentences[: len(questions)]))
        ranking = self.rank(questions, allowed, top, ranker)
        return self._explained(ranking, top, words, accepted_rows)

    def _asked_at(
        self,
        manuscript: Manuscript,
        place: int,
        top: int,
        year: int | None,
        accepted: Sequence[str],
        ranker: str,
    ) -> AskedFor:
        accepted_rows, allowed = self._may_answer(top, year, accepted, ranker)
        question = self.question(manuscript, place, year, accepted_rows)
        return AskedFor(question, allowed, top, ranker)

    def _may_answer(
        self, top: int, year: int | None, accepted: Sequence[str], ranker: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of accepted papers, and (N,) whether each paper may be ranked.

        :raises ConfigError: one of these cannot be; or :class:`UnknownPaperError`.
        """
        check_ranker(ranker)
        if ranker == "dense" and not self.vectors.shape[1]:
            raise ConfigError(
                "ranker 'dense': the index has no vectors; expected 'words' or 'both', or an index "
                "that mpbert index made with --encoder"
            )
        if top < 1:
            raise ConfigError(f"top {top}: expected 1 or more")
        if not isinstance(year, int | np.integer | None):
            raise ConfigError(f"year is {year!r}; expected a whole number, such as 2015, or None")
        if isinstance(accepted, str):
            raise ConfigError(f"accepted is one text, {accepted!r}; expected a list of ids")
        accepted_rows = np.array([self.row_of(paper_id) for paper_id in accepted], dtype=np.int64)
        allowed = np.ones(len(self.paper_ids), dtype=bool)
        allowed[accepted_rows] = False
        if year is not None:
            allowed &= self._years <= year
        return accepted_rows, allowed

    def warning(self, manuscript: Manuscript, place: int = 0) -> str:
        """Return one line where the index shares no language with a place; else an empty text."""
        return self.warning_of(" ".join(around(manuscript, place)))

    def warning_of(self, text: str) -> str:
        """Return the same of a text as a whole."""
        return shared(text, self._words).warning

    def questions_of_whole(self, sentences: Sequence[str], year: int | None) -> list[Asked]:
        """Return the questions of a whole paper by the sentences of its title and abstract."""
        return questions_of_whole(sentences, self._words, year)

    def question(
        self,
        manuscript: Manuscript,
        place: int,
        year: int | None = None,
        accepted: Sequence[int] = (),
    ) -> Asked:
        """Return the question of a numbered place.

        :param accepted: rows of papers.
        """
        return question_at(manuscript, place, self._words, year, accepted)

    def rank(
        self, questions: Sequence[Asked], allowed: np.ndarray, top: int, ranker: str = "both"
    ) -> Ranking:
        """Return the ranking of a place, of ``top`` papers or more where there are.

        :param questions: that of the place, or those of a whole paper.
        :param allowed: (N,) whether a paper may be ranked; one that was accepted may not.
        """
        return self._ranker.rank(questions, allowed, top, ranker)

    def read_ahead(self, manuscripts: Sequence[Manuscript]) -> None:
        """Read what questions on the first place of these will need, if that is faster together."""
        self._encoder.read_ahead([(each.sentences, int(each.places[0])) for each in manuscripts])

    @property
    def features(self) -> PaperFeatures:
        """What speaks for each paper, to learn from, see :mod:`mpbert.recommending.features`.

        :raises ConfigError: the index holds nothing to learn from.
        """
        if self._ranker.features is None:
            raise ConfigError("the index holds no words of fields apart; build it with build-index")
        return self._ranker.features

    def _explained(
        self,
        ranking: Ranking,
        top: int,
        words: tuple[np.ndarray, np.ndarray],
        accepted_rows: np.ndarray,
    ) -> list[Recommendation]:
        """Return the first papers of a ranking with the reasons for each.

        :param words: (U,) columns of the stems around the place, and (U,) their counts.
        """
        rows, scores = ranking.rows[0, :top], ranking.scores[0, :top]
        rows, scores = rows[rows >= 0], scores[rows >= 0]
        citing = self._reasons.citing(rows, words)
        shares = _shares(ranking.scores[0][ranking.rows[0] >= 0])[:top]
        found = zip(rows.tolist(), scores.tolist(), shares.tolist(), citing, strict=True)
        return [self._recommendation(*one, accepted_rows) for one in found]

    def _recommendation(
        self,
        row: int,
        score: float,
        share: float,
        citing: tuple[CitingSentence, ...],
        accepted: np.ndarray,
    ) -> Recommendation:
        why = Why(citing, self._reasons.companions(row, accepted))
        return Recommendation(**self.shown(row), score=score, why=why, share=share)


def _shares(scores: np.ndarray) -> np.ndarray:
    """Return where scores lie between that of the last paper, at most the 200th, and the best.

    :param scores: (M,) descending.
    """
    if not len(scores) or scores[0] == scores[-1]:
        return np.ones(len(scores))
    last = scores[:_SHARED][-1]
    return (np.maximum(scores - last, 0) / max(scores[0] - last, _LEAST)).round(3)
