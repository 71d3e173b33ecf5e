"""What words weigh in papers, word by word, and the scores of all papers for a question."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mpbert.foundation.errors import IndexFormatError

_COMMON = 4  # a word is common where one paper in so many holds it
_MOST_BYTES = 256 << 20  # of the rows of common words, which each process keeps for itself


@contextmanager
def told_of_damage(num_papers: int) -> Iterator[None]:
    """Tell in one line that a word is in a paper that is none of the index.

    :raises IndexFormatError: it is.
    """
    try:
        yield
    except IndexError as error:
        raise IndexFormatError(
            f"found a word in a paper that is none of the {num_papers:,}; mpbert check names the "
            f"file of the index that is damaged, build it again"
        ) from error


def divisor(counts: np.ndarray) -> int:
    """Return what divides all counts, such as 3 for a lone sentence, whose words count thrice.

    Sums of whole multiples of float32 have no rounding in float64: what is multiplied at the end
    has the same digits.
    """
    return int(np.gcd.reduce(counts)) or 1 if counts.dtype.kind == "i" else 1


@dataclass(frozen=True)
class Postings:
    """Papers by word, or contexts: those that hold each stem, and its part in their BM25 score.

    :param offsets: (V + 1,); ``papers`` and ``weights`` of stem v are those at
        ``offsets[v]:offsets[v + 1]``.
    """

    offsets: np.ndarray
    papers: np.ndarray
    weights: np.ndarray

    def scores(self, words: np.ndarray, counts: np.ndarray, num_papers: int) -> np.ndarray:
        """Return (N,) float64: Σ_word count in the question · weight in the paper.

        Word after word is added to all papers that hold it. One of the most frequent words, which a
        quarter of them hold, is added to all from a row of its weights: to add 0 costs less than to
        look for the papers. One question alone makes no row. What divides all counts comes last.

        :param words: (U,) numbers of the question's words, ``counts`` (U,) what each counts there.
        :raises IndexFormatError: a row is that of no paper.
        """
        scores, least, common = np.zeros(num_papers), self._least(num_papers), divisor(counts)
        with told_of_damage(num_papers):
            for word, start, end, count in self.each(words, counts / common):
                row = self._row(word, start, end, num_papers) if end - start > least else None
                if row is None:
                    self.add(scores, start, end, count)
                elif count == 1:
                    scores += row
                else:
                    scores += row * count
        return scores if common == 1 else np.multiply(scores, common, out=scores)

    def each(self, words: np.ndarray, counts: np.ndarray) -> "zip[tuple[int, int, int, float]]":
        """Return words that a paper holds: number, start and end of their papers, count."""
        starts, ends = self.offsets[words], self.offsets[words + 1]
        each, held = (words, starts, ends, counts.astype(np.float64)), ends > starts
        return zip(*(values[held].tolist() for values in each), strict=True)

    def add(self, scores: np.ndarray, start: int, end: int, count: float) -> None:
        """Add what a word counts to the (N,) scores of the papers that hold it, in place."""
        parts = self.weights[start:end].astype(scores.dtype, copy=False)
        if count != 1:
            parts = parts * count
        papers = self.papers[start:end].astype(np.intp, copy=False)
        np.add.at(scores, papers, parts)  # to add numbers of other kinds is slower

    def _least(self, num_papers: int) -> int:
        """Return how many papers a word must be in more of, to have a row: so all rows fit."""
        fit = _MOST_BYTES // (8 * max(num_papers, 1))
        least = num_papers // _COMMON
        return max(int(self._lengths[-1 - fit]), least) if fit < len(self._lengths) else least

    def _row(self, word: int, start: int, end: int, num_papers: int) -> np.ndarray | None:
        """Return the (N,) weights of a word, 0 where a paper lacks it; None: it is asked first."""
        row = self._rows.get(word)
        if row is None and word in self._asked:
            row = np.zeros(num_papers)  # as the scores are: to convert takes as long as to add
            row[self.papers[start:end]] = self.weights[start:end]
            self._rows[word] = row
        elif row is None:
            self._asked.add(word)
        return row

    @cached_property
    def _lengths(self) -> np.ndarray:
        return np.sort(np.diff(self.offsets))

    @cached_property
    def _asked(self) -> set[int]:
        return set()

    @cached_property
    def _rows(self) -> dict[int, np.ndarray]:
        return {}
