"""Sentence numbers: places of all sentences of a corpus where each paper begins with its title.

A binary corpus counts its sentences so; the rows of a corpus store leave titles out.
"""

import numpy as np
import pyarrow as pa

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import offsets_of


def number_offsets(store: CorpusStore) -> np.ndarray:
    """Return (N + 1,) int64: paper r owns the numbers ``offsets[r]``, its title, and following."""
    return offsets_of(np.diff(store.sentence_offsets) + 1)


def numbered_texts(store: CorpusStore, numbers: np.ndarray) -> pa.LargeStringArray:
    """Return the texts of (K,) sentence numbers."""
    offsets = number_offsets(store)
    papers = np.searchsorted(offsets, numbers, side="right") - 1
    is_title = offsets[papers] == numbers
    titles = pa.array(store.titles, pa.large_string()).take(pa.array(papers[is_title]))
    others = store.sentences.take(pa.array((numbers - papers - 1)[~is_title]))
    places = np.empty(len(numbers), dtype=np.int64)  # of each among titles, then others
    places[is_title] = np.arange(len(titles))
    places[~is_title] = len(titles) + np.arange(len(others))
    return pa.concat_arrays([titles, others]).take(pa.array(places))
