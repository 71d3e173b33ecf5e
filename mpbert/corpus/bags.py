"""Bags of words of many texts at once: the words of :func:`mpbert.corpus.text.words`, as arrays."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.vocabulary import Vocabulary
from mpbert.corpus.word_counts import count_words
from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.ragged_rows import Ragged

if TYPE_CHECKING:  # not to search titles
    from scipy import sparse

_NO_WORD = r"[^\p{L}\p{N}]+"
_BLOCK = 4096  # texts counted at once: their words lie in memory one by one


def spaced_words(texts: pa.Array) -> pa.Array:
    """Return each text as its lower-case words with single spaces between them."""
    spaced = pc.replace_substring_regex(pc.utf8_lower(texts), _NO_WORD, " ")
    return pc.utf8_trim(spaced, " ")


def split_words(texts: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """Return (M,) numbers of words of the texts, and all words, one text after another."""
    lists = pc.split_pattern(spaced_words(texts), " ")
    flat = lists.flatten()
    is_word = pc.not_equal(flat, "")  # a text without words splits into one empty string
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    lengths -= np.bincount(
        row_numbers(lengths)[~is_word.to_numpy(zero_copy_only=False)], minlength=len(lengths)
    )
    return lengths, flat.filter(is_word)


def count_matrix(
    texts: pa.Array, vocabulary: pa.Array | None = None, stemmed: bool = False
) -> tuple["sparse.csr_array", pa.Array]:
    """Return how often each text holds each word.

    :param texts: (M,) strings.
    :param vocabulary: (V,) words to count, others are skipped; None for all words of the texts.
    :param stemmed: whether to count stems; a given vocabulary holds stems too.
    :returns: (M, V) int32 counts and the vocabulary.
    """
    from scipy import sparse

    known = () if vocabulary is None else vocabulary.to_pylist()
    counter = Vocabulary(known, stemmed, grows=vocabulary is None)
    starts = range(0, len(texts), _BLOCK)
    found = count_words((texts[i : i + _BLOCK].to_pylist() for i in starts), counter)
    if vocabulary is None:
        vocabulary = pa.array(counter.words(), pa.large_string())
    parts = found.counts, found.words, found.offsets
    return sparse.csr_array(parts, shape=(len(texts), len(vocabulary))), vocabulary


def known_words(texts: pa.Array, vocabulary: pa.Array) -> Ragged:
    """Return (M,) texts as places in the vocabulary; words that are not in it are left out."""
    lengths, flat = split_words(texts)
    encoded = flat.dictionary_encode()
    numbers = pc.fill_null(pc.index_in(encoded.dictionary, value_set=vocabulary), -1)
    items = numbers.to_numpy().astype(np.int64)[encoded.indices.to_numpy()]
    return Ragged.of_lengths(items, lengths).where(items >= 0)
