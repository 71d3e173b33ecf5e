"""What speaks for each paper at a question: the features of a learnt fusion.

The same code computes them for learning and for answers. All are (N,) float64, of all papers:

* ``cosine`` of manuscript and paper; ``exact_matches``, of an encoder that counts them;
* ``bm25_abstract``, ``bm25_citing``: BM25 of the words around the place, over title and abstract,
  and over the known sentences that cite the paper;
* ``citations``: ln(1 + citations in known sentences, up to the manuscript's year), and ``age``:
  ln(1 + years since the paper, at least 0); a paper without a year is as old as the median paper;
* ``companions``: how often the paper is cited together with the accepted ones.
"""

from functools import lru_cache

import numpy as np

from mpbert.foundation.ragged import row_numbers
from mpbert.methods.citations_by_year import CitationsByYear
from mpbert.recommending.companions import companion_scores
from mpbert.recommending.directory import IndexData
from mpbert.recommending.encoders import IndexEncoder
from mpbert.recommending.learnt import (
    ABSTRACT,
    AGE,
    CITATIONS,
    CITING,
    COMPANIONS,
    COSINE,
    MATCHES,
)
from mpbert.recommending.matching import cosines
from mpbert.recommending.questions import Asked
from mpbert.recommending.words import Words

_YEARS = 32  # whose citations and ages are remembered: 16 N bytes each


class PaperFeatures:
    """The features of all papers of an index.

    :param data: of an index that has the words of fields apart.
    :param years: (N,) of papers; 0 where a paper has none.
    """

    def __init__(
        self,
        data: IndexData,
        encoder: IndexEncoder,
        words: Words,
        years: np.ndarray,
    ) -> None:
        self._lookup, self._fields = data.lookup, data.fields
        self._vectors, self._matches = data.tables.vectors, data.tables.matches
        self._encoder, self._words = encoder, words
        # a list: where pandas is installed, Arrow's own way to an array would import it
        citing = np.array(data.tables.contexts["citing_row"].to_pylist(), dtype=np.int64)
        cited = row_numbers(np.diff(data.lookup.citing_offsets))
        self._citations = CitationsByYear(cited, years[citing[data.lookup.citing_contexts]])
        known = years[years > 0]
        middle, self._last_year = (
            (int(np.median(known)), int(known.max())) if len(known) else (0, 0)
        )
        self._years = np.where(years > 0, years, middle)
        self._rows = np.arange(len(years))
        self._until = lru_cache(_YEARS)(self._known_in)

    def of(self, question: Asked, near: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return name to (N,) values; companions are 0 where nothing was accepted.

        :param near: (N,) cosines, where they are known.
        """
        asked = question.sentences, question.sentence
        if near is None:
            near = cosines(self._vectors, self._encoder.embed_manuscript(*asked))
        citations, age = self._until(
            self._last_year if question.year is None else int(question.year)
        )
        found = {COSINE: near}
        if self._matches is not None:
            found[MATCHES] = self._matches.scores(self._encoder.weigh_manuscript(*asked))
        return found | {
            ABSTRACT: self._words.bm25(*question.words, self._fields.abstract),
            CITING: self._words.bm25(*question.words, self._fields.citing),
            CITATIONS: citations,
            AGE: age,
            COMPANIONS: companion_scores(self._lookup, question.accepted, len(self._rows)),
        }

    def _known_in(self, year: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what depends on nothing but the manuscript's year: citations and age."""
        citations = np.log1p(self._citations.until(self._rows, np.array(year)))
        age = np.log1p(np.maximum(year - self._years, 0))
        citations.flags.writeable = age.flags.writeable = False  # other questions get them, too
        return citations, age
