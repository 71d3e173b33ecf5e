"""What is looked up at a question; :mod:`mpbert.recommending.lookup_building` works it out.

All are ragged arrays: row i owns ``values[offsets[i]:offsets[i + 1]]``.
"""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from mpbert.methods.lexical.postings import Postings

# how often title and abstract, and citing sentences count beside a body: as in the row bm25_fields,
# for which they were chosen on the validation of both corpora
TIMES = 3, 5


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
