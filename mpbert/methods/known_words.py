"""Texts as places in a vocabulary."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.bags import split_words
from mpbert.foundation.ragged_rows import Ragged


def known_words(texts: pa.Array, vocabulary: pa.Array) -> Ragged:
    """Return (M,) texts as places in the vocabulary; words that are not in it are left out."""
    lengths, flat = split_words(texts)
    encoded = flat.dictionary_encode()
    numbers = pc.fill_null(pc.index_in(encoded.dictionary, value_set=vocabulary), -1)
    items = numbers.to_numpy().astype(np.int64)[encoded.indices.to_numpy()]
    return Ragged.of_lengths(items, lengths).where(items >= 0)
