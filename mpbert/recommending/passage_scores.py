"""How well sentences support a place: BM25 of sentences, without a bonus for short ones.

    score(s) = Σ_w weight(w) · n / (n + |s| / 20),   n: times that w stands in s, of |s| words
    weight(w) = (1 + ln count of w in the question) · idf(w)

A passage shares two content words with the place, or the one that the place has. How this was
chosen: docs/confidence.md.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import numpy as np

from mpbert.corpus.text import stem, words
from mpbert.foundation.ragged import counted
from mpbert.recommending.sentence_codes import code_of_stem

_LEAST = 2  # content words that a passage shares
_LENGTH = 20  # words
Numbers = TypeVar("Numbers", float, np.ndarray)
_stem = lru_cache(1 << 16)(stem)


def _saturated(times: Numbers, length: Numbers) -> Numbers:
    return times / (times + length / _LENGTH)


class PassageScores:
    """Scores sentences for one question.

    :param stems: (U,) of the question; ``weights`` of each, and whether each ``is_content``.
    """

    def __init__(self, stems: Sequence[str], weights: np.ndarray, is_content: np.ndarray) -> None:
        self._weights = dict(zip(stems, weights.tolist(), strict=True))
        self._content = {stems[number] for number in np.flatnonzero(is_content)}
        self._least = min(_LEAST, len(self._content))
        codes = list(map(code_of_stem, stems))
        self._slots = np.zeros(1 << 16, np.min_scalar_type(len(stems)))  # the smaller, the faster
        self._slots[codes] = np.arange(1, len(stems) + 1)
        slots = self._slots[codes]  # stems of one code share a slot
        self._parts = np.bincount(slots, weights, len(stems) + 1)
        self._counts = np.bincount(slots, is_content, len(stems) + 1)

    def bounds(self, texts: Sequence[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for each text (S,) bounds of the scores of its sentences, and their sizes.

        A bound is the score, or higher where other words have the code of one that is sought.

        :param texts: codes of each, see :mod:`mpbert.recommending.sentence_codes`; one at least.
        """
        codes = np.concatenate(texts)
        ends = np.flatnonzero(codes == 0)
        slots = self._slots.take(codes)
        slots[ends + 1] = 0  # sizes of sentences
        places = np.flatnonzero(slots > 0)
        keys, times = counted((np.searchsorted(ends, places) << 16) + slots[places])
        sentences, slots = keys >> 16, keys & 0xFFFF
        lengths = np.diff(ends, prepend=-2) - 2
        parts = self._parts[slots] * _saturated(times, lengths[sentences])
        scores = np.bincount(sentences, parts, len(ends))
        scores[np.bincount(sentences, self._counts[slots], len(ends)) < self._least] = 0
        sizes, of_texts = codes[ends + 1].astype(np.int64), np.cumsum([0, *map(len, texts)])
        each = pairwise(np.searchsorted(ends, of_texts).tolist())
        return [(scores[first:last], sizes[first:last]) for first, last in each]

    def read(self, sentence: str) -> tuple[float, tuple[str, ...]]:
        """Return the score of a sentence, and its content words that the place has, in its order.

        The score is 0 where it shares too little.
        """
        found = words(sentence)
        stems = list(map(_stem, found))
        each = zip(found, stems, strict=True)
        told = tuple(dict.fromkeys(word for word, of_word in each if of_word in self._content))
        shared = [of_word for of_word in stems if of_word in self._weights]
        once = dict.fromkeys(shared)
        if len(once.keys() & self._content) < self._least:
            return 0.0, told
        parts = (self._weights[w] * _saturated(shared.count(w), len(found)) for w in once)
        return sum(parts, 0.0), told
