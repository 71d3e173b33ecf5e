"""Questions to the words of an index: BM25 of papers, and how near a citing sentence is."""

from bisect import bisect_left
from functools import cached_property, lru_cache

import numpy as np

from mpbert.corpus.text import stem, words
from mpbert.foundation.ragged import counted, ranges, row_numbers
from mpbert.methods.lexical.best_papers import BestPapers
from mpbert.methods.rankings import Ranking
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.lookup import Lookup, Postings

_WORDS = 1 << 16  # that are remembered by the columns of their stems
_TEXTS = 256  # that are remembered by those of all their words: a question asks thrice


class Words:
    """The stems of an index.

    :param vocabulary: (V,) stems in the order of the arrays.
    :ivar num_papers: of the index.
    """

    def __init__(self, lookup: Lookup, vocabulary: TextColumn, num_papers: int) -> None:
        self._lookup = lookup
        self.num_papers = num_papers
        self._vocabulary = vocabulary
        self._column = lru_cache(_WORDS)(self._found)
        self._stems = lru_cache(_TEXTS)(self._stems_of)

    def counts(self, *texts: str) -> tuple[np.ndarray, np.ndarray]:
        """Return (U,) columns of the known stems of texts, ascending, and (U,) their counts."""
        columns = np.concatenate(list(map(self.stems, texts)))
        return counted(columns[columns >= 0])

    def frequencies(self, text: str) -> np.ndarray:
        """Return (T,) parts of the papers that hold each word of a text; 0 for an unknown one."""
        return self.frequencies_of(self.stems(text))

    def frequencies_of(self, stems: np.ndarray) -> np.ndarray:
        """Return the same of (T,) columns of stems; -1 is an unknown one."""
        offsets = self._lookup.word_offsets
        holding = offsets[stems + 1] - offsets[np.maximum(stems, 0)]
        return np.where(stems >= 0, holding, 0) / self.num_papers

    def weights(self, columns: np.ndarray, counts: np.ndarray | int = 1) -> np.ndarray:
        """Return (U,) idf of known stems times how often each counts."""
        return self._lookup.idf[columns] * counts

    def stems(self, text: str) -> np.ndarray:
        """Return (T,) columns of the stems of all words of a text; -1 for an unknown one."""
        return self._stems(text)

    def _stems_of(self, text: str) -> np.ndarray:
        stems = np.array(list(map(self._column, words(text))), np.int64)
        stems.flags.writeable = False
        return stems

    def _found(self, word: str) -> int:
        """Return the column of the stem of a word; -1 for an unknown one."""
        asked = stem(word)
        if self._lookup.word_times is None:
            return self._columns.get(asked, -1)
        column = bisect_left(self._vocabulary, asked)
        is_there = column < len(self._vocabulary) and self._vocabulary[column] == asked
        return column if is_there else -1

    @cached_property
    def _columns(self) -> dict[str, int]:
        """Columns of the stems of an index that does not have them in order."""
        return {word: column for column, word in enumerate(self._vocabulary)}

    def bm25(self, columns: np.ndarray, counts: np.ndarray, papers: Postings) -> np.ndarray:
        """Return (N,) BM25 scores of all papers; 0 for those that hold no word of the question.

            score(q, d) = Σ_w count(w, q) · weight(w, d),   weights of ``retrieval.lexical.Bm25``

        :param columns: (U,) stems of the question, ``counts`` (U,) how often each occurs.
        :param papers: by the words of some field; those of no other word are read.
        """
        return papers.scores(columns, counts, self.num_papers)

    def best(self, columns: np.ndarray, counts: np.ndarray, allowed: np.ndarray, k: int) -> Ranking:
        """Return the ranking of one question by :meth:`bm25` in all that is searched.

        :param allowed: (N,) whether a paper may be ranked; one without a word of the question is
            not. ``columns`` and ``counts`` as of :meth:`bm25`, ``k`` papers at most.
        """
        return Ranking(*self.ranked.of(columns, counts, allowed, k))

    @cached_property
    def ranked(self) -> BestPapers:
        """What ranks papers by all that is searched, and scores some of them."""
        return BestPapers(self._lookup.words, self.num_papers)

    def similarities(
        self, columns: np.ndarray, counts: np.ndarray, contexts: np.ndarray
    ) -> np.ndarray:
        """Return (M,) cosines of TF-IDF vectors of the question and of contexts, from 0 to 1.

            cos(q, c) = Σ_w weight(w, q) · weight(w, c),   weight(w, q) ~ (1 + ln count) · idf(w)

        :param columns: (U,) stems of the question, ascending; ``counts`` (U,) of each.
        :param contexts: (M,) their numbers.
        """
        found = self._lookup
        weights = (1 + np.log(counts)) * found.idf[columns]
        weights = weights / max(float(np.linalg.norm(weights)), 1e-12)
        lengths = found.bag_offsets[contexts + 1] - found.bag_offsets[contexts]
        places = ranges(found.bag_offsets[contexts], lengths)
        stems, is_asked = found.bag_words[places], np.zeros(len(found.idf), dtype=bool)
        is_asked[columns] = True
        shared = np.flatnonzero(is_asked[stems])
        parts = weights[np.searchsorted(columns, stems[shared])] * found.bag_weights[places[shared]]
        sums = np.bincount(row_numbers(lengths)[shared], weights=parts, minlength=len(contexts))
        return np.clip(sums, 0.0, 1.0)
