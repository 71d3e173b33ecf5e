"""The formulas of BM25, see :class:`mpbert.methods.lexical.bm25.Bm25`."""

from collections.abc import Callable

import numpy as np

K1, B = 2.0, 0.75


def idf(num_holding: np.ndarray, num_papers: int) -> np.ndarray:
    """Return what a word weighs that so many papers hold."""
    return np.log(1 + (num_papers - num_holding + 0.5) / (num_holding + 0.5))


def half_counts(lengths: np.ndarray, mean_length: float, k1: float, b: float) -> np.ndarray:
    """Return how often papers must hold a word for half of what it can weigh."""
    return k1 * (1 - b + b * lengths / mean_length)


def saturated(counts: np.ndarray, half: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Return how much of its weight a word has that a paper holds so often.

    :param half: of the papers, see :func:`half_counts`.
    :param out: where it is written; None: a new array.
    """
    return np.divide(counts, counts + half, out=out)


def weigher(
    offsets: np.ndarray,
    papers: np.ndarray,
    counts: np.ndarray,
    lengths: np.ndarray,
    k1: float = K1,
    b: float = B,
) -> Callable[[int, int], np.ndarray]:
    """Return what gives parts of words in the scores of papers, word after word, by their places.

    :param offsets: (V + 1,) word w is in ``papers[offsets[w]:offsets[w + 1]]``, ``counts`` beside.
    :param lengths: (N,) words of each paper.
    """
    each = idf(np.diff(offsets), len(lengths))
    mean = lengths.mean() if len(papers) else 1.0
    half = half_counts(np.arange(lengths.max(initial=0) + 1), mean, k1, b)  # of each length
    lengths = lengths.astype(np.min_scalar_type(len(half)))  # few bytes are looked up faster

    def weigh(first: int, end: int) -> np.ndarray:
        low, high = np.searchsorted(offsets, [first, end - 1], side="right")
        held = np.diff(offsets[low - 1 : high + 1].clip(first, end))
        parts = counts[first:end].astype(np.float64)
        saturated(parts, half.take(lengths.take(papers[first:end])), out=parts)
        parts *= np.repeat(each[low - 1 : high], held)
        return parts

    return weigh
