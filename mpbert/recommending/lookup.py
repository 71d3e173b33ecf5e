"""What is looked up at a question; :mod:`mpbert.recommending.lookup_building` works it out.

All are ragged arrays: row i owns ``values[offsets[i]:offsets[i + 1]]``.
"""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

# how often title and abstract, and citing sentences count beside a body: as in the row bm25_fields,
# for which they were chosen on the validation of both corpora
TIMES = 3, 5
_COMMON = 4  # a word is common where one paper in so many holds it
_MOST_BYTES = 64 << 20  # of the rows of common words, which each process keeps for itself


@dataclass(frozen=True)
class Postings:
    """Papers by word, or contexts: those that hold each stem, and its part in their BM25 score.

    :param offsets: (V + 1,); ``papers`` and ``weights`` of stem v are those at
        ``offsets[v]:offsets[v + 1]``.
    """

    offsets: np.ndarray
    papers: np.ndarray
    weights: np.ndarray

    def scores(self, words: np.ndarray, counts: np.ndarray, num_papers: int) -> np.ndarray:
        """Return (N,) float64: Σ_word count in the question · weight in the paper.

        Word after word is added to all papers that hold it. One of the most frequent words, which a
        quarter of them hold, is added to all from a row of its weights: to add 0 costs less than to
        look for the papers.

        :param words: (U,) numbers of the question's words, ``counts`` (U,) what each counts there.
        """
        scores, least = np.zeros(num_papers), self._least(num_papers)
        starts, ends = self.offsets[words].tolist(), self.offsets[words + 1].tolist()
        each = words.tolist(), starts, ends, counts.astype(np.float64).tolist()
        for word, start, end, count in zip(*each, strict=True):
            row = None
            if end - start > least:
                row = self._row(word, start, end, num_papers)
            if row is None:
                parts = np.multiply(self.weights[start:end], count, dtype=np.float64)
                np.add.at(scores, self.papers[start:end], parts)  # slow where it must convert
            elif count == 1:
                scores += row
            else:
                scores += row * count
        return scores

    def _least(self, num_papers: int) -> int:
        """Return how many papers a word must be in more of, to have a row: so all rows fit."""
        fit = _MOST_BYTES // (8 * max(num_papers, 1))
        least = num_papers // _COMMON
        return max(int(self._lengths[-1 - fit]), least) if fit < len(self._lengths) else least

    def _row(self, word: int, start: int, end: int, num_papers: int) -> np.ndarray:
        """Return the (N,) weights of a word, 0 where a paper lacks it."""
        row = self._rows.get(word)
        if row is None:
            row = np.zeros(num_papers)  # as the scores are: to convert takes as long as to add
            row[self.papers[start:end]] = self.weights[start:end]
            self._rows[word] = row
        return row

    @cached_property
    def _lengths(self) -> np.ndarray:
        return np.sort(np.diff(self.offsets))

    @cached_property
    def _rows(self) -> dict[int, np.ndarray]:
        return {}


@dataclass(frozen=True)
class Lookup:
    """Arrays of an index; N papers, C contexts, V stems.

    :param word_offsets: (V + 1,) papers that hold each stem, ``word_papers``, and its part in
        their BM25 score, ``word_weights``.
    :param citing_offsets: (N + 1,) contexts that cite each paper, ``citing_contexts``.
    :param bag_offsets: (C + 1,) stems of each context, ``bag_words``, and their TF-IDF weights,
        ``bag_weights``, of length 1; ``idf`` (V,) of stems among the contexts.
    :param cocited_offsets: (N + 1,) papers cited with each paper, ``cocited_papers``, and how
        often, ``cocited_counts``.
    :param word_times: how often each paper holds each stem, beside ``word_papers``, and
        ``word_lengths`` (N,) words of each paper. Where they are, stems stand in the order of their
        letters; None: in an older index, or where a paper holds one more than 65,535 times.
    """

    word_offsets: np.ndarray
    word_papers: np.ndarray
    word_weights: np.ndarray
    citing_offsets: np.ndarray
    citing_contexts: np.ndarray
    bag_offsets: np.ndarray
    bag_words: np.ndarray
    bag_weights: np.ndarray
    idf: np.ndarray
    cocited_offsets: np.ndarray
    cocited_papers: np.ndarray
    cocited_counts: np.ndarray
    word_times: np.ndarray | None = None
    word_lengths: np.ndarray | None = None

    @cached_property
    def words(self) -> Postings:
        """Papers by the words of all that is searched."""
        return Postings(self.word_offsets, self.word_papers, self.word_weights)


@dataclass(frozen=True)
class FieldWords:
    """Papers by the words of two fields, each by itself; of an index with learnt weights.

    All arrays are as those of words in :class:`Lookup`.

    :param abstract_word_offsets: over title and abstract; ``citing_word_offsets`` over the known
        sentences that cite a paper.
    """

    abstract_word_offsets: np.ndarray
    abstract_word_papers: np.ndarray
    abstract_word_weights: np.ndarray
    citing_word_offsets: np.ndarray
    citing_word_papers: np.ndarray
    citing_word_weights: np.ndarray

    @cached_property
    def abstract(self) -> Postings:
        """Papers by the words of title and abstract."""
        return Postings(
            self.abstract_word_offsets, self.abstract_word_papers, self.abstract_word_weights
        )

    @cached_property
    def citing(self) -> Postings:
        """Papers by the words of the known sentences that cite them."""
        return Postings(self.citing_word_offsets, self.citing_word_papers, self.citing_word_weights)


@dataclass(frozen=True)
class ContextWords:
    """Known contexts by their words, those of the sentences around them among these.

    All arrays are as those of words in :class:`Lookup`, of contexts and not of papers.
    """

    context_word_offsets: np.ndarray
    context_word_contexts: np.ndarray
    context_word_weights: np.ndarray

    @cached_property
    def words(self) -> Postings:
        """Contexts by their words."""
        return Postings(
            self.context_word_offsets, self.context_word_contexts, self.context_word_weights
        )


MATCH_ARRAYS = {f"match_{field.name}": field.name for field in fields(Postings)}
*ARRAYS, _, _ = (field.name for field in fields(Lookup))
COUNT_ARRAYS = "word_times", "word_lengths"  # which an index may lack
FIELD_ARRAYS = tuple(field.name for field in fields(FieldWords))
CONTEXT_ARRAYS = tuple(field.name for field in fields(ContextWords))
