"""The words of many papers as one array of numbers, sentence after sentence."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import split_words
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import offsets_of, ranges

_BLOCK = 1 << 18  # sentences whose words lie in memory as text at once


@dataclass(frozen=True)
class WordStream:
    """Papers as numbers of words; words outside the vocabulary are left out.

    :param vocabulary: (V,) words, the commonest first.
    :param counts: (V,) how often each occurs in the stream.
    :param tokens: (T,) int32 numbers of the words of all papers.
    :param sentence_offsets: (S + 1,) sentence i of the papers' own sentences has
        ``tokens[offsets[i]:offsets[i + 1]]``.
    :param paper_offsets: (M + 1,) the same of papers.
    """

    vocabulary: pa.Array
    counts: np.ndarray
    tokens: np.ndarray
    sentence_offsets: np.ndarray
    paper_offsets: np.ndarray


def read_words(
    store: CorpusStore, rows: np.ndarray, min_count: int = 1, vocabulary: pa.Array | None = None
) -> WordStream:
    """Return the words of some papers, abstract and body.

    :param rows: (M,) papers to read, in this order.
    :param min_count: rarer words are left out; of no effect with a vocabulary.
    :param vocabulary: (V,) the words to keep; None: those of these papers.
    """
    per_paper = np.diff(store.sentence_offsets)[rows]
    sentence_rows = ranges(store.sentence_offsets[rows], per_paper)
    found: dict[str, int] = {}  # word to number, in order of appearance
    numbers, lengths = [], []
    for start in range(0, len(sentence_rows), _BLOCK):
        block = pa.array(sentence_rows[start : start + _BLOCK], pa.int64())
        length, flat = split_words(store.sentences.take(block))
        encoded = flat.dictionary_encode()
        terms = [found.setdefault(word, len(found)) for word in encoded.dictionary.to_pylist()]
        numbers.append(np.array(terms, dtype=np.int32)[encoded.indices.to_numpy()])
        lengths.append(length)
    flat_numbers = np.concatenate([np.zeros(0, dtype=np.int32), *numbers])
    flat_lengths = np.concatenate([np.zeros(0, dtype=np.int64), *lengths])
    counts = np.bincount(flat_numbers, minlength=len(found))
    if vocabulary is None:
        vocabulary, order = _common_words(list(found), counts, min_count)
    else:
        order = np.array([found.get(word, -1) for word in vocabulary.to_pylist()], dtype=np.int64)
    number_of = np.full(len(found) + 1, -1, dtype=np.int32)  # the last: words not found here
    number_of[order] = np.arange(len(order))
    number_of[-1] = -1
    tokens = number_of[flat_numbers]
    known = tokens >= 0
    kept = np.diff(offsets_of(known)[offsets_of(flat_lengths)])
    offsets = offsets_of(kept)
    return WordStream(
        vocabulary,
        np.bincount(tokens[known], minlength=len(vocabulary)),
        tokens[known],
        offsets,
        offsets[offsets_of(per_paper)],
    )


def _common_words(
    words: list[str], counts: np.ndarray, min_count: int
) -> tuple[pa.Array, np.ndarray]:
    """Return (V,) words that occur often enough, the commonest first, and their (V,) places."""
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] >= min_count]
    return pa.array([words[i] for i in order], pa.large_string()), order
