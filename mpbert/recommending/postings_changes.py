"""Postings of an index that was changed: new ones stand among the old ones, of which some go."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mpbert.foundation.growing_arrays import Lazy, release
from mpbert.recommending.lookup import Lookup

_AT_ONCE = 1 << 20  # postings that are looked through at once
_SOUGHT = 1 << 14  # new ones whose places are sought at once


@dataclass(frozen=True)
class PostingsChange:
    """What becomes of the postings of an index.

    :param numbers: (V,) of the words of ``old`` among those that there are now, ascending.
    :param origin: (N,) old row of each paper, ascending; -1: it is new.
    :param words: (K,) of new papers, ascending; ``papers`` that hold them, ascending at each, and
        ``times`` how often.
    """

    old: Lookup
    numbers: np.ndarray
    origin: np.ndarray
    words: np.ndarray
    papers: np.ndarray
    times: np.ndarray

    def counts(self, num_words: int) -> np.ndarray:
        """Return (num_words,) how many papers hold each word."""
        counts, offsets = np.bincount(self.words, minlength=num_words), self.old.word_offsets
        going = np.searchsorted(offsets, self.gone, side="right") - 1
        counts[self.numbers] += np.diff(offsets) - np.bincount(going, minlength=len(self.numbers))
        return counts

    def result(self) -> tuple[Lazy, Lazy]:
        """Return the papers of all words, one word after another, and how often each holds it."""
        held, row_of = self.old.word_papers, self._row_of
        rows = Lazy(held.shape, held.dtype, lambda a, b: row_of.take(held[a:b]), (held,))
        return self._spliced(rows, self.papers), self._spliced(self.old.word_times, self.times)

    def _spliced(self, old: np.ndarray | Lazy, new: np.ndarray) -> Lazy:
        staying = self.gone - np.arange(len(self.gone))  # before each that goes

        def part(first: int, end: int) -> np.ndarray:
            low, high = np.searchsorted(self._places, [first, end])
            skipped = np.searchsorted(staying, first - low, side="right")
            going = slice(skipped, np.searchsorted(staying, end - high))
            start = first - low + skipped
            block = old[start : end - high + going.stop]
            if going.stop > skipped:
                block = np.delete(block, self.gone[going] - start)
            places, found = self._places[low:high] - first, np.empty(end - first, old.dtype)
            found[places] = new[low:high]
            gaps = zip([0, *(places + 1).tolist()], [*places.tolist(), len(found)], strict=True)
            for before, (begin, stop) in enumerate(gaps):  # one by one: most are long
                found[begin:stop] = block[begin - before : stop - before]
            return found

        length = len(old) - len(self.gone) + len(new)
        return Lazy((length,), old.dtype, part, (old,))

    @cached_property
    def _row_of(self) -> np.ndarray:
        """(M,) new row of each old paper; -1: it goes."""
        row_of = np.full(len(self.old.word_lengths), -1, dtype=np.int32)
        kept = np.flatnonzero(self.origin >= 0)
        row_of[self.origin[kept]] = kept
        return row_of

    @cached_property
    def gone(self) -> np.ndarray:
        """(G,) places of the old postings that go."""
        is_gone, held = self._row_of < 0, self.old.word_papers
        if not is_gone.any():
            return np.zeros(0, dtype=np.int64)
        return np.concatenate(
            [np.flatnonzero(is_gone[held[part]]) + part.start for part in _parts(held, _AT_ONCE)]
        )

    @cached_property
    def _places(self) -> np.ndarray:
        """(K,) places of the new postings among all."""
        offsets, numbers = self.old.word_offsets, self.numbers
        word = np.searchsorted(numbers, self.words)  # the old one, or the next
        is_old = np.append(numbers, -1)[word] == self.words
        kept = np.flatnonzero(self.origin >= 0)
        behind = np.append(self.origin[kept], len(self._row_of))  # old papers behind new ones
        asked = offsets[word], offsets[word + is_old], behind[np.searchsorted(kept, self.papers)]
        held, places = self.old.word_papers, np.empty(len(word), dtype=np.int64)
        for part in _parts(word, _SOUGHT):
            places[part] = _lower_bounds(held, *(each[part] for each in asked))
            release(held)
        return places - np.searchsorted(self.gone, places) + np.arange(len(places))


def _parts(array: np.ndarray, size: int) -> Iterator[slice]:
    for first in range(0, len(array), size):
        yield slice(first, first + size)
        release(array)


def _lower_bounds(
    values: np.ndarray, low: np.ndarray, high: np.ndarray, bounds: np.ndarray
) -> np.ndarray:
    """Return the first place of each ascending ``values[low:high]`` with so much; else its end."""
    while len(open_ones := np.flatnonzero(low < high)):
        middle = (low[open_ones] + high[open_ones]) // 2
        is_less = values[middle] < bounds[open_ones]
        low[open_ones[is_less]] = middle[is_less] + 1
        high[open_ones[~is_less]] = middle[~is_less]
    return low
