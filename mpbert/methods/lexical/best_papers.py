"""The best papers for a question by its words: exact, from sums of all papers that are nearly so.

A word that many papers hold adds a row of 8 bits to all of them: whole numbers of a unit, the same
for all rows. Other words add float32. So a sum is off by half a unit at most for each time that a
question has a common word, and by a rounding of float32 for each word and three more (Higham 2002,
Sec. 4.2). Papers that may be among the best by that are few, and are added up anew.
"""

import numpy as np

from mpbert.methods.lexical.postings import Postings, divisor, told_of_damage
from mpbert.retrieval.ranking import at_most_kth, top_k

_FEW = 1 << 16  # papers of which sums of all take no longer
_COMMON = 32  # a word is common where one paper in so many holds it
_MOST_BYTES = 256 << 20  # of the rows of common words, which each process keeps for itself
_STEPS = np.iinfo(np.uint8).max


class BestPapers:
    """Ranks papers by words.

    :param postings: weights not below 0; the papers of a word ascend.
    """

    def __init__(self, postings: Postings, num_papers: int) -> None:
        self._postings, self._num_papers = postings, num_papers
        lengths, fit = np.diff(postings.offsets), _MOST_BYTES // max(num_papers, 1)
        least = num_papers // _COMMON
        if fit < len(lengths):
            least = max(least, int(np.partition(lengths, -1 - fit)[-1 - fit]))
        self._is_common = lengths > least
        self._rows: tuple[float, dict[int, np.ndarray]] = 0.0, {}  # their unit, and those of words
        self._asked: set[int] = set()

    def of(
        self, words: np.ndarray, counts: np.ndarray, allowed: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of the k best papers with a word, and their scores, ties by row.

        :param words: as of ``Postings.scores``; ``counts`` are whole numbers.
        :param allowed: (N,) whether a paper may be ranked.
        :returns: (1, K) and (1, K), K at most k.
        """
        rows = None
        if self._num_papers > _FEW:
            rows = self._candidates(words, counts, allowed, k)
        if rows is None:
            scores = self._postings.scores(words, counts, self._num_papers)
            rows = np.flatnonzero(allowed & (scores > 0))
            scores = scores[rows]
        else:
            scores = self.exact(words, counts, rows)
        if not len(rows):
            return np.zeros((1, 0), np.int64), np.zeros((1, 0))
        places, best = top_k(scores[None], min(k, len(rows)), np.array([-1]))
        return rows[places], best

    def _candidates(
        self, words: np.ndarray, counts: np.ndarray, allowed: np.ndarray, k: int
    ) -> np.ndarray | None:
        """Return the rows of papers that may be among the best; None: of any with a word."""
        near, slack = self.near(words, counts)
        if not allowed.all():
            near *= allowed
        least = at_most_kth(near, min(k, len(near))) - 2 * slack
        return np.flatnonzero(near >= least) if least > 0 else None

    def near(self, words: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, float]:
        """Return (N,) float32 scores of all papers, and how far they may be off.

        :param words: and ``counts``, as of :meth:`of`.
        """
        near, (unit, rows) = np.zeros(self._num_papers, np.float32), self._rows
        common, spare, added = divisor(counts), None, 0
        most = _STEPS * int(counts[self._is_common[words]].sum()) // common
        units = np.zeros(self._num_papers if most else 0, np.min_scalar_type(most))
        with told_of_damage(self._num_papers):
            for word, start, end, count in self._postings.each(words, counts):
                row = self._row(unit, rows, word, start, end) if self._is_common[word] else None
                if row is None:
                    self._postings.add(near, start, end, count)
                    continue
                if count != common:
                    times = int(count) // common
                    row = spare = np.multiply(row, times, out=spare, dtype=units.dtype)
                units += row
                added += count
        if added:
            near += np.multiply(units, np.float32(unit * common), dtype=np.float32)
        rounding = (len(words) + 4) * 2.0**-24 * float(near.max(initial=0.0))
        return near, added * unit / 2 + rounding

    def _row(
        self, unit: float, rows: dict[int, np.ndarray], word: int, start: int, end: int
    ) -> np.ndarray | None:
        """Return the (N,) weights of a word in units; None: it is asked first, or they are larger.

        The next question has a unit that is large enough, and new rows.
        """
        row = rows.get(word)
        if row is None and word in self._asked:
            weights, papers = self._postings.weights[start:end], self._postings.papers[start:end]
            if (most := float(weights.max())) > _STEPS * unit:
                self._rows = 2.0 ** np.ceil(np.log2(most / _STEPS)), {}
                return None
            row = np.zeros(self._num_papers, np.uint8)
            row[papers] = np.rint(weights / unit)
            rows[word] = row
        self._asked.add(word)
        return row

    def exact(self, words: np.ndarray, counts: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the scores of some papers, with the digits of ``Postings.scores``."""
        held, asked = self._postings, rows.astype(self._postings.papers.dtype)
        starts, ends = held.offsets[words, None], held.offsets[words + 1, None]
        places = np.empty((len(words), len(rows)), np.int64)
        for own, start, end in zip(places, starts[:, 0].tolist(), ends[:, 0].tolist(), strict=True):
            own[:] = held.papers[start:end].searchsorted(asked)
        places = np.minimum(places + starts, len(held.papers) - 1)
        is_there = (places < ends) & (held.papers[places] == asked)
        parts = held.weights[places].astype(np.float64, copy=False) * counts[:, None] * is_there
        return np.add.accumulate(parts)[-1] if len(parts) else np.zeros(len(rows))
