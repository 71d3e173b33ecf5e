"""How sure an index is of its answers."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mpbert.foundation.ragged import distinct
from mpbert.recommending.confidence.coefficients import SHIPPED, read_confidence
from mpbert.recommending.confidence.signs import signs_of, signs_of_answer
from mpbert.recommending.directory import IndexData
from mpbert.recommending.learnt import PLACES, WHOLES
from mpbert.recommending.questions import Asked
from mpbert.recommending.records import CitingSentence
from mpbert.recommending.words import Words

_TITLES = 1 << 14  # that are remembered by their stems, 200 bytes each


class Sure(NamedTuple):
    """How sure an answer is.

    :param papers: (K,) P(this paper is cited here), of its first papers.
    :param holds: P(the library holds what belongs here); ``fits``: whether that is enough.
    """

    papers: np.ndarray
    holds: float
    fits: bool


class Judge:
    """Tells how sure answers of an index are: by what it learnt, else by what comes with mpbert.

    :param words: of the index, ``data`` what it holds.
    """

    def __init__(self, data: IndexData, words: Words) -> None:
        self._titles, self._words = data.tables.papers["title"], words
        self._title = lru_cache(_TITLES)(self._stems_of_title)
        self._number_citing = np.diff(data.lookup.citing_offsets)
        self._is_learnt = data.places is not None
        self._shipped = [read_confidence(SHIPPED, of) for of in (PLACES, WHOLES)]
        learnt = [each and each.confidence for each in (data.places, data.wholes)]
        self._learnt = learnt if self._is_learnt else self._shipped

    def _stems_of_title(self, row: int) -> np.ndarray:
        stems = distinct(self._words.stems(self._titles[row]))
        return stems[stems >= 0]

    def signs(
        self,
        scores: np.ndarray,
        rows: np.ndarray,
        citing: Sequence[Sequence[CitingSentence]],
        questions: Sequence[Asked],
        is_learnt: bool | None = None,
    ) -> np.ndarray:
        """Return the (K, 13) signs of the first papers of an answer.

        :param scores: (M,) of all ranked papers, descending; ``rows`` (K,) of the first of them.
        :param citing: of each of the K papers, the known sentences nearest to the place.
        :param is_learnt: whether scores were learnt; None: where the index learnt any.
        """
        is_learnt = self._is_learnt if is_learnt is None else is_learnt
        about = citing, self._number_citing[rows], list(map(self._title, rows.tolist()))
        return signs_of(scores, *about, questions, self._words, is_learnt)

    def knows(self, is_of_whole: bool) -> bool:
        """Whether the scores of answers tell how sure they are."""
        return self._learnt[is_of_whole] is not None

    def of(self, signs: np.ndarray, is_of_whole: bool, is_learnt: bool | None = None) -> Sure:
        """Return how sure an answer is.

        :param signs: (K, 13), of one paper at least; ``is_learnt`` as of :meth:`signs`.
        """
        learnt = (self._shipped if is_learnt is False else self._learnt)[is_of_whole]
        holds = learnt.of_library(signs_of_answer(signs))
        return Sure(learnt.of_papers(signs, holds), holds, holds >= learnt.threshold)
