"""BM25: Robertson and Zaragoza (FnTIR 2009)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError
from mpbert.methods.lexical.method import LEXICAL, LexicalMethod

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse


def idf(num_holding: np.ndarray, num_papers: int) -> np.ndarray:
    """Return what a word weighs that so many papers hold, see :class:`Bm25`."""
    return np.log(1 + (num_papers - num_holding + 0.5) / (num_holding + 0.5))


def saturated(counts: np.ndarray, lengths: np.ndarray, k1: float, b: float) -> np.ndarray:
    """Return how much of its weight a word has that a paper holds so often, see :class:`Bm25`.

    :param lengths: of the papers, divided by their mean.
    """
    return counts / (counts + k1 * (1 - b + b * lengths))


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
    k1: float = setting(2.0, minimum=0)
    b: float = setting(0.75, minimum=0)

    def __post_init__(self) -> None:
        """Check what a single setting cannot."""
        super().__post_init__()
        if self.b > 1:
            raise ConfigError(f"b={self.b}: found more than 1; expected a number from 0 to 1")

    def weigh_papers(self, counts: "sparse.csr_array") -> "sparse.sparray":
        """Return the part of each word in a paper's score, for a query that holds it once."""
        import bm25s  # half a second, which search by vectors need not wait for
        from scipy import sparse

        num_papers, num_words = counts.shape
        index = bm25s.BM25(self.k1, self.b, method="lucene", dtype="float64", csc_backend="scipy")
        scores = index.build_index_from_ids(
            range(num_words), _PaperWords(counts), show_progress=False
        )
        parts = scores["data"], scores["indices"], scores["indptr"]
        return sparse.csc_array(parts, shape=(num_papers, num_words))


class _PaperWords:
    """Columns of the words of each paper, as often as it holds them: lists made one at a time."""

    def __init__(self, counts: "sparse.csr_array") -> None:
        self._counts = counts

    def __len__(self) -> int:
        return self._counts.shape[0]

    def __iter__(self) -> Iterator[list[int]]:
        offsets, columns, counts = self._counts.indptr, self._counts.indices, self._counts.data
        for start, end in pairwise(offsets):
            yield np.repeat(columns[start:end], counts[start:end]).tolist()
