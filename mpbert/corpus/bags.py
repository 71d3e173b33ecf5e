"""Bags of words of many texts at once: the words of :func:`mpbert.corpus.text.words`, as arrays."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.ragged_rows import Ragged

if TYPE_CHECKING:  # not to search titles
    from scipy import sparse

_NO_WORD = r"[^\p{L}\p{N}]+"


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


def stem(words: pa.Array) -> pa.Array:
    """Return words without plural endings: the S stemmer of Harman (JASIS 1991), Table 1.

    The first rule whose ending fits is applied: -ies becomes -y but not after e or a; -es becomes
    -e but not after a, e or o; -s is dropped but not after u or s.
    """
    rules = [("ies", "[ea]ies$", "y"), ("es", "[aeo]es$", "e"), ("s", "[us]s$", "")]
    stemmed, undecided = words, pc.greater(pc.utf8_length(words), 3)
    for ending, exception, replacement in rules:
        fits = pc.and_(undecided, pc.ends_with(words, ending))
        applies = pc.and_not(fits, pc.match_substring_regex(words, exception))
        shorter = pc.replace_substring_regex(words, f"{ending}$", replacement)
        stemmed = pc.if_else(applies, shorter, stemmed)
        undecided = pc.and_not(undecided, applies)
    return stemmed


def count_matrix(
    texts: pa.Array, vocabulary: pa.Array | None = None, stemmed: bool = False
) -> tuple["sparse.csr_array", pa.Array]:
    """Return how often each text holds each word.

    :param texts: (M,) strings.
    :param vocabulary: (V,) words to count, others are skipped; None for all words of the texts.
    :param stemmed: whether to count stems, as :func:`stem`; a given vocabulary holds stems too.
    :returns: (M, V) int32 counts and the vocabulary.
    """
    from scipy import sparse

    lengths, flat = split_words(texts)
    encoded = flat.dictionary_encode()
    terms = stem(encoded.dictionary) if stemmed else encoded.dictionary
    if vocabulary is None:
        vocabulary = pc.unique(terms)
    column_of_term = pc.fill_null(pc.index_in(terms, value_set=vocabulary), -1).to_numpy()
    columns = column_of_term[encoded.indices.to_numpy()]
    known = columns >= 0
    places = row_numbers(lengths)[known], columns[known]
    ones = np.ones(len(columns[known]), dtype=np.int32)
    return sparse.csr_array((ones, places), shape=(len(texts), len(vocabulary))), vocabulary


def known_words(texts: pa.Array, vocabulary: pa.Array) -> Ragged:
    """Return (M,) texts as places in the vocabulary; words that are not in it are left out."""
    lengths, flat = split_words(texts)
    encoded = flat.dictionary_encode()
    numbers = pc.fill_null(pc.index_in(encoded.dictionary, value_set=vocabulary), -1)
    items = numbers.to_numpy().astype(np.int64)[encoded.indices.to_numpy()]
    return Ragged.of_lengths(items, lengths).where(items >= 0)
