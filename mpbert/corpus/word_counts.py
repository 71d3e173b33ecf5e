"""How often texts hold each word, as arrays: the words of :func:`mpbert.corpus.text.words`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.vocabulary import Vocabulary
from mpbert.foundation.ragged import offsets_of, row_numbers, taken_rows

_ROWS = 1 << 12  # papers whose words are added up at once


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

    @property
    def totals(self) -> np.ndarray:
        """(M,) words of each text, each as often as it stands there."""
        return np.diff(offsets_of(self.counts)[self.offsets])


def count_words(blocks: Iterable[Sequence[str]], vocabulary: Vocabulary) -> WordCounts:
    """Return how often each text of all blocks holds each word.

    :param blocks: of so many texts that memory may hold all their words, one by one.
    """
    sizes, keys, counts = [], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for texts in blocks:
        lengths, numbers = vocabulary.numbers(texts)
        known = numbers >= 0
        placed = (row_numbers(lengths)[known] << 32) + numbers[known]
        found, times = np.unique(placed, return_counts=True)
        sizes.append(np.bincount(found >> 32, minlength=len(texts)))
        keys.append(found.astype(np.int32))  # the lower half
        counts.append(times.astype(np.int32))
    lengths = np.concatenate([np.zeros(0, np.int64), *sizes])
    return WordCounts(offsets_of(lengths), np.concatenate(keys), np.concatenate(counts))


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


def summed(parts: Sequence[Texts]) -> WordCounts:
    """Return how often all texts of each paper hold each word."""
    num_papers = len(parts[0].offsets) - 1
    sizes, keys, counts = [], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for first in range(0, num_papers, _ROWS):
        ends = slice(first, min(first + _ROWS, num_papers) + 1)
        placed, times = zip(*(_placed(part, part.offsets[ends]) for part in parts), strict=True)
        together = np.concatenate(placed)
        order = np.argsort(together, kind="stable")  # those of a part ascend, mostly
        together = together[order]
        starts = np.flatnonzero(np.diff(together, prepend=-1))
        keys.append(together[starts].astype(np.int32))
        counts.append(np.add.reduceat(np.concatenate(times)[order], starts) if starts.size else [])
        sizes.append(np.bincount(together[starts] >> 32, minlength=ends.stop - ends.start - 1))
    lengths = np.concatenate([np.zeros(0, np.int64), *sizes])
    together = np.concatenate(counts).astype(np.int32, copy=False)
    return WordCounts(offsets_of(lengths), np.concatenate(keys), together)


def _placed(part: Texts, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return paper and word of each count, in one number, and the counts, of some papers.

    :param ends: (n + 1,) offsets of these papers.
    """
    offsets, places = taken_rows(part.counts.offsets, part.rows[ends[0] : ends[-1]])
    owners = np.repeat(row_numbers(np.diff(ends)), np.diff(offsets))
    return (owners << 32) + part.counts.words[places], part.times * part.counts.counts[places]
