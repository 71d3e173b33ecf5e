"""The recommender: a place in a manuscript -> ranked papers, and why."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mpbert.foundation.errors import ConfigError, UnknownPaperError
from mpbert.methods.rankings import Ranking
from mpbert.recommending.bibtex import bibtex_entry, bibtex_key
from mpbert.recommending.directory import IndexData, read_index
from mpbert.recommending.encoders import IndexEncoder, encoder_of_index
from mpbert.recommending.manuscripts.sentences import Manuscript, manuscript_at
from mpbert.recommending.questions import Asked, question_at
from mpbert.recommending.rankers import RANKERS, AskedFor, PaperRanker
from mpbert.recommending.reasons import Reasons
from mpbert.recommending.records import CitingSentence, IndexedPaper, Recommendation, Why
from mpbert.recommending.tables import column_of
from mpbert.recommending.titles import TitleIndex
from mpbert.recommending.words import Words


class IndexRecommender:
    """Recommends papers of one index. Reading only: threads may share one recommender."""

    def __init__(self, data: IndexData, encoder: IndexEncoder) -> None:
        self._data, self._encoder = data, encoder
        self._papers = data.tables.papers
        self._columns = {
            name: column_of(self._papers, name)
            for name in ("title", "authors", "venue", "abstract")
        }
        self._lookup = data.lookup
        self.paper_ids: list[str] = self._papers["paper_id"].to_pylist()
        self._row_of = {paper_id: row for row, paper_id in enumerate(self.paper_ids)}
        self._folded = Counter(map(str.casefold, self.paper_ids))
        # a list: where pandas is installed, Arrow's own way to an array would import it
        self._years = np.array(self._papers["year"].to_pylist(), dtype=np.int32)
        self._words = Words(data.lookup, data.vocabulary, len(self.paper_ids))
        self._ranker = PaperRanker(data, encoder, self._words, self._years)
        self._reasons = Reasons(data.tables, data.lookup, self._words, self.paper_ids)

    @classmethod
    def open(cls, path: Path | str) -> "IndexRecommender":
        """Return the recommender of an index.

        :raises IndexFormatError: it is no index, of another version, or damaged.
        :raises EncoderError: its encoder is damaged.
        """
        path = Path(path)
        data = read_index(path)
        return cls(data, encoder_of_index(path, data))

    @property
    def vectors(self) -> np.ndarray:
        """(N, D) float32 citation vectors of length 1, in the order of ``paper_ids``, mapped."""
        return self._data.tables.vectors

    @property
    def titles(self) -> list[str]:
        """Titles of all papers, in the order of ``paper_ids``."""
        return self._papers["title"].to_pylist()

    @property
    def years(self) -> np.ndarray:
        """(N,) int32 years of all papers; 0 where the corpus has none."""
        return self._years

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
        of the three sentences around the place over title, abstract and citing sentences. ``both``
        ranks by the fusion that the index learnt (``mpbert.recommending.features``). An index that
        learnt none adds exact matches to the cosine; without these it fuses the first 200 papers
        of ``dense`` and ``words`` by reciprocal ranks; without an encoder it ranks by words alone.
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
        :raises ConfigError: ``top`` is less than 1, or there is no such ranker, or the index has no
            vectors for ``dense``.
        """
        asked = self.asked(text, place, title, abstract, top, year, accepted, ranker)
        return self.answer(asked)

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
        return self._asked_at(manuscript, 0, top, year, accepted, ranker)

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
            asked.question, asked.allowed, asked.top, asked.ranker, asked.estimate
        )
        return self._explained(ranking, asked.top, asked.question.words, asked.question.accepted)

    def _asked_at(
        self,
        manuscript: Manuscript,
        place: int,
        top: int,
        year: int | None,
        accepted: Sequence[str],
        ranker: str,
    ) -> AskedFor:
        if ranker not in RANKERS:
            raise ConfigError(f"ranker {ranker!r}: expected one of {', '.join(RANKERS)}")
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
        accepted_rows = np.array([self._row(paper_id) for paper_id in accepted], dtype=np.int64)
        allowed = np.ones(len(self.paper_ids), dtype=bool)
        allowed[accepted_rows] = False
        if year is not None:
            allowed &= self._years <= year
        question = self.question(manuscript, place, year, accepted_rows)
        return AskedFor(question, allowed, top, ranker)

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

    def rank(self, question: Asked, allowed: np.ndarray, top: int, ranker: str = "both") -> Ranking:
        """Return the ranking of one question, of ``top`` papers or more where there are.

        :param allowed: (N,) whether a paper may be ranked; one that was accepted may not.
        """
        return self._ranker.rank(question, allowed, top, ranker)

    def read_ahead(self, manuscripts: Sequence[Manuscript]) -> None:
        """Read what questions on the first place of these will need, if that is faster together."""
        self._encoder.read_ahead([(each.sentences, int(each.places[0])) for each in manuscripts])

    def features(self, question: Asked) -> dict[str, np.ndarray]:
        """Return the features of all papers for a learnt fusion, see ``recommending.features``.

        :raises ConfigError: the index holds nothing to learn from.
        """
        if self._ranker.features is None:
            raise ConfigError("the index holds no words of fields apart; build it with build-index")
        return self._ranker.features.of(question)

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
        return [
            self._recommendation(row, score, reasons, accepted_rows)
            for row, score, reasons in zip(rows.tolist(), scores.tolist(), citing, strict=True)
        ]

    def paper(self, paper_id: str) -> IndexedPaper:
        """Return a paper.

        :raises UnknownPaperError: the index does not hold it.
        """
        return self._paper(self._row(paper_id))

    def search_titles(self, query: str, top: int = 10) -> list[IndexedPaper]:
        """Return papers whose title holds all words of the query, each as the start of a word.

        Titles that begin with the query come first, then short ones before long ones.
        """
        return [self._paper(row) for row in self._title_index.search(query, top)]

    @cached_property
    def _title_index(self) -> TitleIndex:
        return TitleIndex(self.titles)

    def bibtex(self, paper_id: str) -> str:
        """Return the BibTeX entry of a paper; its key is unique in the index.

        :raises UnknownPaperError: the index does not hold it.
        """
        paper = self.paper(paper_id)
        with_case = self._folded[paper_id.casefold()] > 1
        return bibtex_entry(paper, bibtex_key(paper_id, with_case))

    def _row(self, paper_id: str) -> int:
        if paper_id not in self._row_of:
            raise UnknownPaperError(
                f"no paper {paper_id!r} among the {len(self.paper_ids):,} of the index; expected "
                f"an id as recommend prints it"
            )
        return self._row_of[paper_id]

    def _paper(self, row: int) -> IndexedPaper:
        venue, abstract = (self._columns[name][row].as_py() for name in ("venue", "abstract"))
        return IndexedPaper(**self._shown(row), venue=venue, abstract=abstract)

    def _shown(self, row: int) -> dict[str, Any]:
        """Return what an answer shows of a paper."""
        return {
            "paper_id": self.paper_ids[row],
            "title": self._columns["title"][row].as_py(),
            "authors": tuple(self._columns["authors"][row].as_py()),
            "year": int(self._years[row]) or None,
        }

    def _recommendation(
        self,
        row: int,
        score: float,
        citing: tuple[CitingSentence, ...],
        accepted: np.ndarray,
    ) -> Recommendation:
        why = Why(citing, self._reasons.companions(row, accepted))
        return Recommendation(**self._shown(row), score=score, why=why)
