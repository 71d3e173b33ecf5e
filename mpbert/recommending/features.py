"""What speaks for each paper at a question: the features of a learnt fusion.

The same code computes them for learning and for answers. All are (N,) float64, of all papers:

* ``cosine`` of manuscript and paper; ``exact_matches``, of an encoder that counts them;
* ``bm25_abstract``, ``bm25_citing``: BM25 of the words around the place, over title and abstract,
  and over the known sentences that cite the paper;
* ``bm25_all``: the same over both and the body, as the row "BM25, fields weighed" weighs them;
* ``votes`` of known contexts that say alike, for what they cite;
* ``citations``: ln(1 + citations in known sentences, up to the manuscript's year), and ``age``:
  ln(1 + years since the paper, at least 0); a paper without a year is as old as the median paper;
* ``companions``: how often the paper is cited together with the accepted ones.

A whole paper asks several questions, one at each of its first sentences: its features are the
means of theirs.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from mpbert.foundation.ragged import row_numbers
from mpbert.methods.citations_by_year import CitationsByYear
from mpbert.methods.lambdamart.related import KnownCitations
from mpbert.recommending.companions import companion_scores
from mpbert.recommending.directory import IndexData
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.learnt import (
    ABSTRACT,
    AGE,
    ALL_WORDS,
    CITATIONS,
    CITING,
    COMPANIONS,
    COSINE,
    MATCHES,
    VOTES,
)
from mpbert.recommending.matching import cosines
from mpbert.recommending.questions import Asked
from mpbert.recommending.votes import ContextVotes
from mpbert.recommending.words import Words
from mpbert.vectors.matches import TokenWeights

_YEARS = 32  # whose citations and ages are remembered: 16 N bytes each


class PaperFeatures:
    """The features of all papers of an index.

    :param data: of an index that has the words of fields apart.
    :param years: (N,) of papers; 0 where a paper has none.
    :ivar known: citations of known contexts; None: the index is of a format without their words.
    """

    def __init__(
        self, data: IndexData, encoder: IndexEncoder, words: Words, years: np.ndarray
    ) -> None:
        self._lookup, self._fields = data.lookup, data.fields
        self._vectors, self._matches = data.tables.vectors, data.tables.matches
        self._encoder, self._words = encoder, words
        citing = data.tables.contexts["citing_row"].astype(np.int64)
        cited = row_numbers(np.diff(data.lookup.citing_offsets))
        self._citations = CitationsByYear(cited, years[citing[data.lookup.citing_contexts]])
        known = years[years > 0]
        middle, self._last_year = (
            (int(np.median(known)), int(known.max())) if len(known) else (0, 0)
        )
        self._years = np.where(years > 0, years, middle)
        self._rows = np.arange(len(years))
        self._until = lru_cache(_YEARS)(self._known_in)
        self._votes, self.known = None, None
        if data.contexts is not None:
            self._votes = ContextVotes(data.tables, data.contexts)
            contexts = *data.tables.cited(), citing, years[citing]
            self.known = KnownCitations(*contexts, len(years))

    def of(
        self, question: Asked, near: np.ndarray | None = None, weights: TokenWeights | None = None
    ) -> dict[str, np.ndarray]:
        """Return name to (N,) values; companions are 0 where nothing was accepted.

        :param near: (N,) cosines, where they are known.
        :param weights: (1, V) of the manuscript's tokens, where they are known.
        """
        asked = question.sentences, question.sentence
        if near is None:
            near = cosines(self._vectors, self._encoder.embed_manuscript(*asked))
        citations, age = self._until(self.year_of(question))
        found = {COSINE: near}
        if self._matches is not None:
            weights = self._encoder.weigh_manuscript(*asked) if weights is None else weights
            found[MATCHES] = self._matches.scores(weights)
        found |= {
            ABSTRACT: self._words.bm25(*question.words, self._fields.abstract),
            CITING: self._words.bm25(*question.words, self._fields.citing),
        }
        if self._votes is not None:
            found[ALL_WORDS] = self._words.bm25(*question.words, self._lookup.words)
            found[VOTES] = self._votes.scores(*question.words)
        return found | {
            CITATIONS: citations,
            AGE: age,
            COMPANIONS: self.companions(question.accepted),
        }

    def of_all(
        self, questions: Sequence[Asked], near: Sequence[np.ndarray | None] = ()
    ) -> dict[str, np.ndarray]:
        """Return the features of a place, by its only question, or of a whole paper.

        :param near: of each question (N,) cosines, where they are known.
        """
        each = map(self.of, questions, near or [None] * len(questions))
        found = next(each)
        if len(questions) == 1:
            return found
        of_text = [name for name in found if name not in (CITATIONS, AGE, COMPANIONS)]
        sums = {name: found[name].astype(np.float64) for name in of_text}
        for other in each:
            for name, total in sums.items():
                total += other[name]
        return found | {name: total / len(questions) for name, total in sums.items()}

    def companions(self, accepted: np.ndarray) -> np.ndarray:
        """Return the (N,) values of ``companions``.

        :param accepted: (A,) rows of papers.
        """
        return companion_scores(self._lookup, accepted, len(self._rows))

    def year_of(self, question: Asked) -> int:
        """Return the year of the manuscript, or that of the youngest paper."""
        return self._last_year if question.year is None else int(question.year)

    def _known_in(self, year: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what depends on nothing but the manuscript's year: citations and age."""
        citations = np.log1p(self._citations.until(self._rows, np.array(year)))
        age = np.log1p(np.maximum(year - self._years, 0))
        citations.flags.writeable = age.flags.writeable = False  # other questions get them, too
        return citations, age
