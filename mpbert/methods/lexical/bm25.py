"""BM25: Robertson and Zaragoza (FnTIR 2009)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpbert.foundation.config import setting
from mpbert.methods.lexical.bm25_formulas import K1, B, weigher
from mpbert.methods.lexical.method import LEXICAL, LexicalMethod

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse

_BLOCK = 1 << 20  # parts worked out at once


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
    b: float = setting(B, minimum=0, maximum=1)

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
