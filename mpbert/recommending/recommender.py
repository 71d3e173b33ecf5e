"""The recommender: a place in a manuscript -> ranked papers, and why."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from mpbert.foundation.errors import ConfigError, UnknownPaperError
from mpbert.methods.rankings import Ranking, fuse_reciprocal
from mpbert.recommending.bibtex import bibtex_entry, bibtex_key
from mpbert.recommending.companions import companion_scores
from mpbert.recommending.directory import IndexData, read_index
from mpbert.recommending.encoders import IndexEncoder, encoder_of_index
from mpbert.recommending.manuscripts.sentences import Manuscript, manuscript_at
from mpbert.recommending.matching import PapersByToken, cosines
from mpbert.recommending.reasons import Reasons
from mpbert.recommending.records import (
    CitingSentence,
    IndexedPaper,
    Recommendation,
    Why,
)
from mpbert.recommending.titles import TitleIndex
from mpbert.recommending.words import Words
from mpbert.retrieval.ranking import top_k

RANKERS = ("both", "dense", "words")
_DEPTH = 200  # papers of each ranking that are fused
_CITING_WEIGHT = 3  # the citing sentence beside its neighbours, as in retrieval.lexical


class IndexRecommender:
    """Recommends papers of one index. Reading only: threads may share one recommender."""

    def __init__(self, data: IndexData, encoder: IndexEncoder) -> None:
        self._data, self._encoder = data, encoder
        self._papers = data.tables.papers
        self._lookup = data.lookup
        self.paper_ids: list[str] = self._papers["paper_id"].to_pylist()
        self._row_of = {paper_id: row for row, paper_id in enumerate(self.paper_ids)}
        self._folded = Counter(map(str.casefold, self.paper_ids))
        # a list: where pandas is installed, Arrow's own way to an array would import it
        self._years = np.array(self._papers["year"].to_pylist(), dtype=np.int32)
        self._has_vector = self.vectors.any(axis=1)
        matches = data.tables.matches
        self._matches = None if matches is None else PapersByToken(matches)
        self._words = Words(data.lookup, data.vocabulary, len(self.paper_ids))
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
        fuses the first 200 of each by reciprocal ranks (``mpbert.methods.fusion``). An encoder with
        exact matches reads words itself: ``both`` adds its matches to the cosine, and no BM25
        (``mpbert.recommending.matching``). An index without an encoder ranks by words alone.
        Papers that were accepted here are not returned; what is cited together with them makes one
        more ranking (``mpbert.recommending.companions``) which is fused with the others in the same
        way.

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
        manuscript = manuscript_at(text, place, title, abstract)
        return self.recommend_at(manuscript, 0, top, year, accepted, ranker)

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
        sentence = int(manuscript.places[place])
        accepted_rows = np.array([self._row(paper_id) for paper_id in accepted], dtype=np.int64)
        allowed = np.ones(len(self.paper_ids), dtype=bool)
        allowed[accepted_rows] = False
        if year is not None:
            allowed &= self._years <= year
        words = self._words.counts(_question(manuscript.sentences, sentence))
        depth = max(_DEPTH, top)
        rankings = self._rankings(ranker, manuscript.sentences, sentence, words, allowed, depth)
        if len(accepted_rows):
            scores = companion_scores(self._lookup, accepted_rows, len(self.paper_ids))
            rankings.append(_ranking(scores, allowed & (scores > 0), depth))
        ranking = rankings[0]
        if len(rankings) > 1:
            ranking = fuse_reciprocal(rankings, len(self.paper_ids))
        return self._explained(ranking, top, words, accepted_rows)

    def _rankings(
        self,
        ranker: str,
        sentences: Sequence[str],
        sentence: int,
        words: tuple[np.ndarray, np.ndarray],
        allowed: np.ndarray,
        depth: int,
    ) -> list[Ranking]:
        """Return the rankings that a ranker asks for, of the allowed papers (N,).

        :param words: as of :meth:`_explained`.
        """
        found = []
        if ranker != "words" and self.vectors.shape[1]:
            vector = self._encoder.embed_manuscript(sentences, sentence)
            if ranker == "both" and self._matches is not None:
                scores = self._matches.scores(self._encoder.weigh_manuscript(sentences, sentence))
                return [_ranking(scores + cosines(self.vectors, vector), allowed, depth)]
            found.append(_ranking(self.vectors @ vector, allowed & self._has_vector, depth))
        if ranker != "dense":
            scores = self._words.bm25(*words)
            found.append(_ranking(scores, allowed & (scores > 0), depth))
        return found

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
        record = self._papers.slice(row, 1).to_pylist()[0]
        return IndexedPaper(
            paper_id=record["paper_id"],
            title=record["title"],
            authors=tuple(record["authors"]),
            year=record["year"] or None,
            venue=record["venue"],
            abstract=record["abstract"],
        )

    def _recommendation(
        self,
        row: int,
        score: float,
        citing: tuple[CitingSentence, ...],
        accepted: np.ndarray,
    ) -> Recommendation:
        paper = self._paper(row)
        why = Why(citing, self._reasons.companions(row, accepted))
        return Recommendation(paper.paper_id, paper.title, paper.authors, paper.year, score, why)


def _ranking(scores: np.ndarray, allowed: np.ndarray, depth: int) -> Ranking:
    """Return the best allowed papers of one question, ties by row."""
    rows = np.flatnonzero(allowed)
    if not len(rows):
        return Ranking(np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0)))
    chosen = scores[rows].astype(np.float64)[None]
    places, best = top_k(chosen, min(depth, len(rows)), np.array([-1]))
    return Ranking(rows[places], best)


def _question(sentences: Sequence[str], sentence: int) -> str:
    """Return the words to ask with: the sentence and its neighbours, itself counted three times."""
    around = sentences[max(sentence - 1, 0) : sentence + 2]
    return " ".join([*around, *[sentences[sentence]] * (_CITING_WEIGHT - 1)])
