"""What is looked up at a question; :mod:`mpbert.recommending.lookup_building` works it out.

All are ragged arrays: row i owns ``values[offsets[i]:offsets[i + 1]]``.
"""

from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Postings:
    """Papers by word: those that hold each stem, and its part in their BM25 score.

    :param offsets: (V + 1,); ``papers`` and ``weights`` of stem v are those at
        ``offsets[v]:offsets[v + 1]``.
    """

    offsets: np.ndarray
    papers: np.ndarray
    weights: np.ndarray

    def scores(self, words: np.ndarray, counts: np.ndarray, num_papers: int) -> np.ndarray:
        """Return (N,) float64: Σ_word count in the question · weight in the paper.

        Word after word is added to all papers that hold it: nothing but their weights is copied.

        :param words: (U,) numbers of the question's words, ``counts`` (U,) what each counts there.
        """
        scores = np.zeros(num_papers)
        starts, ends = self.offsets[words].tolist(), self.offsets[words + 1].tolist()
        for start, end, count in zip(starts, ends, counts.astype(np.float64), strict=True):
            parts = np.multiply(self.weights[start:end], count, dtype=np.float64)
            np.add.at(scores, self.papers[start:end], parts)
        return scores


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

    @property
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

    @property
    def abstract(self) -> Postings:
        """Papers by the words of title and abstract."""
        return Postings(
            self.abstract_word_offsets, self.abstract_word_papers, self.abstract_word_weights
        )

    @property
    def citing(self) -> Postings:
        """Papers by the words of the known sentences that cite them."""
        return Postings(self.citing_word_offsets, self.citing_word_papers, self.citing_word_weights)


MATCH_ARRAYS = {f"match_{field.name}": field.name for field in fields(Postings)}
ARRAYS = tuple(field.name for field in fields(Lookup))
FIELD_ARRAYS = tuple(field.name for field in fields(FieldWords))
