"""BM25: Robertson and Zaragoza (FnTIR 2009)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError
from mpbert.methods.lexical.method import LEXICAL, LexicalMethod

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse

K1, B = 2.0, 0.75
_BLOCK = 1 << 20  # parts worked out at once


def idf(num_holding: np.ndarray, num_papers: int) -> np.ndarray:
    """Return what a word weighs that so many papers hold, see :class:`Bm25`."""
    return np.log(1 + (num_papers - num_holding + 0.5) / (num_holding + 0.5))


def half_counts(lengths: np.ndarray, mean_length: float, k1: float, b: float) -> np.ndarray:
    """Return how often papers must hold a word for half of what it can weigh, see :class:`Bm25`."""
    return k1 * (1 - b + b * lengths / mean_length)


def saturated(counts: np.ndarray, half: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Return how much of its weight a word has that a paper holds so often, see :class:`Bm25`.

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

    See :class:`Bm25`.

    :param offsets: (V + 1,) word w is in ``papers[offsets[w]:offsets[w + 1]]``, ``counts`` beside.
    :param lengths: (N,) words of each paper.
    """
    each = idf(np.diff(offsets), len(lengths))
    half = half_counts(lengths, lengths.mean() if len(papers) else 1.0, k1, b)

    def weigh(first: int, end: int) -> np.ndarray:
        low, high = np.searchsorted(offsets, [first, end - 1], side="right")
        held = np.diff(offsets[low - 1 : high + 1].clip(first, end))
        parts = counts[first:end].astype(np.float64)
        saturated(parts, half.take(papers[first:end]), out=parts)
        parts *= np.repeat(each[low - 1 : high], held)
        return parts

    return weigh


@LEXICAL.register
@dataclass
class Bm25(LexicalMethod):
    """Robertson and Zaragoza (FnTIR 2009), Sec. 3, with the idf of Lucene, never negative.

        score(q, d) = Σ_w count(w, q) · idf(w) · tf / (tf + k1 · (1 - b + b · |d| / mean |d|))
        idf(w) = ln(1 + (N - df(w) + 0.5) / (df(w) + 0.5)),    tf = count(w, d)

    :param k1: how soon a repeated word counts no more.
    :param b: from 0, lengths do not matter, to 1, they do.
    """

    name: ClassVar[str] = "bm25"
    k1: float = setting(K1, minimum=0)
    b: float = setting(B, minimum=0)

    def __post_init__(self) -> None:
        """Check what a single setting cannot."""
        super().__post_init__()
        if self.b > 1:
            raise ConfigError(f"b={self.b}: found more than 1; expected a number from 0 to 1")

    def weigh_papers(self, counts: "sparse.csr_array") -> "sparse.csc_array":
        """Return the part of each word in a paper's score, for a query that holds it once."""
        from scipy import sparse

        by_word = counts.tocsc()
        held = by_word.indptr, by_word.indices, by_word.data
        weigh = weigher(*held, counts.sum(axis=1), self.k1, self.b)
        starts = range(0, by_word.nnz, _BLOCK)
        blocks = (weigh(start, min(start + _BLOCK, by_word.nnz)) for start in starts)
        parts = np.concatenate([np.zeros(0), *blocks])
        return sparse.csc_array((parts, by_word.indices, by_word.indptr), shape=counts.shape)
