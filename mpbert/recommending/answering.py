"""An index that answers: what is asked of a place or of a whole paper -> ranked papers, and why."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Unpack

import numpy as np

from mpbert.foundation.errors import ConfigError
from mpbert.methods.lexical.postings import Postings
from mpbert.methods.rankings import Ranking
from mpbert.recommending.answers import Recommendations
from mpbert.recommending.best import fused
from mpbert.recommending.confidence.judging import Judge, Sure
from mpbert.recommending.confidence.signs import FIRST
from mpbert.recommending.directory import IndexData
from mpbert.recommending.evidence import Evidence
from mpbert.recommending.features import PaperFeatures
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.language import shared
from mpbert.recommending.learnt import COSINE
from mpbert.recommending.manuscripts.sentences import Manuscript, manuscript_at
from mpbert.recommending.matching import cosines
from mpbert.recommending.named_authors import NamedAuthors
from mpbert.recommending.near import NearPapers
from mpbert.recommending.options import Options, Wanted
from mpbert.recommending.papers import IndexedPapers
from mpbert.recommending.questions import Asked, around, question_at, questions_of_whole
from mpbert.recommending.rankers import AskedFor, PaperRanker
from mpbert.recommending.reasons import Reasons
from mpbert.recommending.records import CitingSentence, Passage, Recommendation, Why
from mpbert.recommending.words import Words

WORDS, AROUND, NAMED = "words", "around", "named"  # what speaks for a paper, beside the cosine
_AROUND = 10  # sentences on either side of a place


class AnsweringIndex(IndexedPapers):
    """Papers of an index, ranked. Reading only: threads may share it.

    :param near: proposes papers by their vectors; None: the vectors are searched here.
    """

    def __init__(
        self, data: IndexData, encoder: IndexEncoder, near: NearPapers | None = None
    ) -> None:
        self._data, self._encoder = data, encoder
        super().__init__(data.tables.papers)
        self._words = Words(data.lookup, data.vocabulary, len(self))
        self._ranker = PaperRanker(data, encoder, self._words, self._years, near)
        self._reasons = Reasons(data.tables, data.lookup, self._words)
        self._evidence = Evidence(data)
        self._judge = Judge(data, self._words)

    @property
    def vectors(self) -> np.ndarray:
        """(N, D) float32 vectors of the papers, of length 1, in their order; memory-mapped.

        >>> from mpbert import Recommender
        >>> recommender = Recommender("runs/index/rfc")
        >>> len(recommender.vectors) == len(recommender.papers)
        True
        """
        return self._data.tables.vectors

    @property
    def word_postings(self) -> Postings:
        """Papers by the words of all that is searched."""
        return self._data.lookup.words

    def asked(
        self,
        text: str,
        place: int | None = None,
        title: str = "",
        abstract: str = "",
        **options: Unpack[Wanted],
    ) -> AskedFor:
        """Return what :meth:`answer` answers, see :meth:`mpbert.Recommender.recommend`."""
        manuscript = manuscript_at(text, place, title, abstract)
        return self.asked_at(manuscript, 0, Options(**options))

    def asked_at(self, manuscript: Manuscript, place: int, options: Options) -> AskedFor:
        """Return what :meth:`answer` answers for a numbered place of a manuscript.

        :raises UnknownPaperError: an accepted paper is not in the index.
        :raises ConfigError: there are no vectors for ``dense``.
        """
        accepted, allowed = self._may_answer(options)
        question = self.question(manuscript, place, options.year, accepted)
        warning = shared(" ".join(around(manuscript, place)), self._words).warning
        return AskedFor([question], question.words, allowed, options, warning)

    def asked_whole(self, sentences: Sequence[str], options: Options) -> AskedFor:
        """Return the same for a whole paper: its first ten sentences are asked together.

        ``both`` ranks by the weights and trees that were learnt for whole papers; without them by
        the weights for places, without trees.

        :param sentences: of title and abstract, one at least.
        """
        accepted, allowed = self._may_answer(options)
        questions = questions_of_whole(sentences, self._words, options.year, accepted)
        words = self._words.counts(" ".join(sentences[: len(questions)]))
        warning = shared(" ".join(sentences), self._words).warning
        return AskedFor(questions, words, allowed, options, warning)

    def _may_answer(self, options: Options) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of accepted papers, and (N,) whether each paper may be ranked."""
        if options.ranker == "dense" and not self.vectors.shape[1]:
            raise ConfigError(
                "ranker 'dense': the index has no vectors; expected 'words' or 'both', or an index "
                "that mpbert index made with --encoder"
            )
        accepted = np.array(list(map(self.row_of, options.accepted)), dtype=np.int64)
        allowed = np.ones(len(self), dtype=bool)
        allowed[accepted] = False
        if options.year is not None:
            allowed &= self._years <= options.year
        if options.since is not None:
            allowed &= (self._years >= options.since) | (self._years == 0)
        for label in options.filters:
            allowed &= np.isin(np.arange(len(allowed)), self.rows_with(label))
        return accepted, allowed

    def together(self, asked: Sequence[AskedFor]) -> list[AskedFor]:
        """Return the same questions, read together: :meth:`answer` is faster then, and the same."""
        fused = [one for one in asked if one.options.ranker == "both"]
        estimates = iter(self._ranker.estimates([one.questions[0] for one in fused]))
        return [
            replace(one, estimate=next(estimates)) if one.options.ranker == "both" else one
            for one in asked
        ]

    def answer(self, asked: AskedFor) -> Recommendations:
        """Return the papers for a question, best first, each with its reasons."""
        top, ranker = asked.options.top, asked.options.ranker
        depth = max(top, FIRST)
        rankings = self._ranker.rankings(
            asked.questions, asked.allowed, depth, ranker, asked.estimate
        )
        ranking = fused(rankings, len(asked.allowed))
        rows, scores = ranking.rows[0], ranking.scores[0]
        scores = scores[rows >= 0]
        first = rows[rows >= 0][:depth]
        citing = self._reasons.citing(first, asked.words)
        ranked = rows[rows >= 0]
        sure = self.sure(asked.questions, ranked, scores, citing) if ranker == "both" else None
        of_papers = [None] * top if sure is None else sure.papers.round(3).tolist()
        accepted = asked.questions[0].accepted
        passages = self.passages(first[:top], asked.words)
        each = zip(first.tolist(), scores.tolist(), citing, passages, of_papers, strict=False)
        papers = [self._recommendation(*one, accepted) for one in each]
        holds, fits = (None, None) if sure is None else (sure.holds, sure.fits)
        return Recommendations(papers, asked.warning, holds, fits)

    def sure(
        self,
        questions: Sequence[Asked],
        rows: np.ndarray,
        scores: np.ndarray,
        citing: Sequence[Sequence[CitingSentence]] | None = None,
    ) -> Sure | None:
        """Return how sure an answer by ``both`` is; None: there is no paper.

        Where scores are of fused ranks, or were learnt without how sure they are, scores by words
        of the same papers tell, as in an index that learnt nothing.

        :param rows: (M,) ranked papers, best first, with their ``scores``.
        :param citing: known sentences that cite the first papers; None: of ten, and sought.
        """
        if not len(rows):
            return None
        is_of_whole, is_learnt = questions[0].is_of_whole, None
        if self._ranker.fuses_ranks(questions[0]) or not self._judge.knows(is_of_whole):
            scores, is_learnt = self._ranker.by_words(questions, rows), False
        signs = self.signs(questions, rows, scores, is_learnt, citing)
        return self._judge.of(signs, is_of_whole, is_learnt)

    def signs(
        self,
        questions: Sequence[Asked],
        rows: np.ndarray,
        scores: np.ndarray,
        is_learnt: bool | None = None,
        citing: Sequence[Sequence[CitingSentence]] | None = None,
    ) -> np.ndarray:
        """Return the (K, 13) signs of the first papers of a ranking.

        :param rows: and the others, as of :meth:`sure`.
        :param is_learnt: whether scores were learnt; None: where the index learnt any.
        """
        if citing is None:
            words = questions[0].words
            if questions[0].is_of_whole:
                words = self._words.counts(" ".join(questions[0].sentences[: len(questions)]))
            citing = self._reasons.citing(rows[:FIRST], words)
        return self._judge.signs(scores, rows[: len(citing)], citing, questions, is_learnt)

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
        return fused(self._ranker.rankings(questions, allowed, top, ranker), len(allowed))

    def evidence(self, question: Asked) -> dict[str, np.ndarray]:
        """Return name to (N,) scores of all papers at a place, of what every index has.

        ``words`` are scores by BM25, ``around`` those of a wider text, each word of which counts
        ln(1 + times); ``cosine`` those by vectors that were learnt from this library. ``named`` is
        1 where the sentence names an author of the paper.
        """
        place = question.sentence
        wider = " ".join(question.sentences[max(place - _AROUND, 0) : place + _AROUND + 1])
        columns, counts = self._words.counts(wider)
        found = {
            WORDS: self._words.bm25(*question.words, self.word_postings),
            NAMED: self._named_authors.named(question.sentences[place]),
            AROUND: self._words.bm25(columns, np.log1p(counts), self.word_postings),
        }
        if self.vectors.shape[1] and not self._data.is_foreign:
            asked = self._encoder.embed_manuscript(question.sentences, question.sentence)
            found[COSINE] = cosines(self.vectors, asked)
        return found

    @cached_property
    def _named_authors(self) -> NamedAuthors:
        return NamedAuthors(self.authors)

    @cached_property
    def knowledge(self) -> np.ndarray:
        """(N,) what is known of a paper: 0 its title, 1 an abstract, 2 its text or who cites it."""
        tables, citing = self._data.tables, self._data.lookup.citing_offsets
        title, abstract = (np.diff(tables.papers[name].offsets) for name in ("title", "abstract"))
        more: np.ndarray = np.diff(citing) > 0
        if tables.bodies is not None:
            more |= np.diff(tables.bodies["body"].offsets) > 0
        return np.where(more, 2, (abstract > title + 1).astype(int))

    def passages(
        self, rows: np.ndarray, words: tuple[np.ndarray, np.ndarray]
    ) -> list[Passage | None]:
        """Return what :class:`mpbert.recommending.evidence.Evidence` finds in papers."""
        return self._evidence.passages(rows, words)

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

    def _recommendation(
        self,
        row: int,
        score: float,
        citing: tuple[CitingSentence, ...],
        passage: Passage | None,
        probability: float | None,
        accepted: np.ndarray,
    ) -> Recommendation:
        why = Why(citing, self._reasons.companions(row, accepted), passage)
        return Recommendation(**self.shown(row), score=score, why=why, probability=probability)
