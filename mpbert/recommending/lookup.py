"""What is looked up at a question; :mod:`mpbert.recommending.lookup_building` works it out.

All are ragged arrays: row i owns ``values[offsets[i]:offsets[i + 1]]``.
"""

from dataclasses import dataclass, fields

import numpy as np


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


ARRAYS = tuple(field.name for field in fields(Lookup))
