"""How often texts hold each word, as arrays: the words of :func:`mpbert.corpus.text.words`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.vocabulary import Vocabulary
from mpbert.foundation.growing_arrays import Numbers, release
from mpbert.foundation.ragged import offsets_of, row_numbers, taken_rows
from mpbert.foundation.transposing import Run

_ROWS = 1 << 12  # papers whose words are added up at once
_KINDS = np.int64, np.int32, np.int32


@dataclass(frozen=True)
class WordCounts:
    """How often M texts hold words: (M, V), text after text.

    :param offsets: (M + 1,) text i holds ``words[offsets[i]:offsets[i + 1]]``, which ascend,
        ``counts`` beside; both are int32.
    """

    offsets: np.ndarray
    words: np.ndarray
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1


def count_words(blocks: Iterable[Sequence[str]], vocabulary: Vocabulary) -> WordCounts:
    """Return how often each text of all blocks holds each word.

    :param blocks: of so many texts that memory may hold all their words, one by one.
    """
    empty = (np.zeros(0, kind) for kind in _KINDS)
    each = zip(*(empty, *_counted(blocks, vocabulary)), strict=True)
    sizes, words, counts = map(np.concatenate, each)
    return WordCounts(offsets_of(sizes), words, counts)


def mapped_counts(blocks: Iterable[Sequence[str]], vocabulary: Vocabulary) -> WordCounts:
    """Return the same from temporary files, mapped."""
    found = GrowingCounts()
    for each in _counted(blocks, vocabulary):
        found.extend(*each)
    return found.counts()


class GrowingCounts:
    """Counts of texts in temporary files, one block after another."""

    def __init__(self) -> None:
        self._found = [Numbers(kind) for kind in _KINDS]

    def extend(self, *block: np.ndarray) -> None:
        """Add a block: how many words each text holds, these words, and how often."""
        for numbers, part in zip(self._found, block, strict=True):
            numbers.extend(part)

    def counts(self) -> WordCounts:
        """Return all, mapped; words of a text ascend where those of its block did."""
        sizes, words, counts = (numbers.array() for numbers in self._found)
        return WordCounts(offsets_of(sizes), words, counts)


def _counted(blocks: Iterable[Sequence[str]], vocabulary: Vocabulary) -> Iterator[Run]:
    """Yield how many words the texts of each block hold, these words, and how often."""
    for texts in blocks:
        lengths, numbers = vocabulary.numbers(texts)
        known = numbers >= 0
        placed = (row_numbers(lengths)[known] << 32) + numbers[known]
        found, times = np.unique(placed, return_counts=True)
        sizes = np.bincount(found >> 32, minlength=len(texts))
        yield sizes, found.astype(np.int32), times.astype(np.int32)  # words: the lower half


@dataclass(frozen=True)
class Texts:
    """Texts of N papers, of which some have several or none.

    :param offsets: (N + 1,) paper i has the texts ``rows[offsets[i]:offsets[i + 1]]``.
    :param times: how often each word counts.
    """

    counts: WordCounts
    offsets: np.ndarray
    rows: np.ndarray
    times: int

    @classmethod
    def of_each(cls, counts: WordCounts, times: int) -> "Texts":
        """Return one text of each paper."""
        return cls(counts, np.arange(len(counts) + 1), np.arange(len(counts)), times)


def summed(parts: Sequence[Texts], numbers: np.ndarray) -> Iterator[Run]:
    """Yield how often all texts of each paper hold each word, some papers at a time, by word.

    :param numbers: (V,) a new number of each word.
    """
    num_papers = len(parts[0].offsets) - 1
    for first in range(0, num_papers, _ROWS):
        ends = slice(first, min(first + _ROWS, num_papers) + 1)
        placed, times = zip(
            *(_placed(part, part.offsets[ends], numbers) for part in parts), strict=True
        )
        keys = np.concatenate(placed)
        order = np.argsort(keys)
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.add.reduceat(np.concatenate(times)[order], starts) if starts.size else []
        words, papers = keys[starts] >> 32, (keys[starts] & 0xFFFFFFFF) + first
        yield tuple(np.asarray(each, np.int32) for each in (words, papers, counts))


def _placed(part: Texts, ends: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return word and paper of each count, in one number, and the counts, of some papers.

    :param ends: (n + 1,) offsets of these papers.
    """
    held = part.counts
    offsets, places = taken_rows(held.offsets, part.rows[ends[0] : ends[-1]])
    owners = np.repeat(row_numbers(np.diff(ends)), np.diff(offsets))
    found = (numbers[held.words[places]] << 32) + owners, part.times * held.counts[places]
    release(held.words)
    release(held.counts)
    return found
