"""Exact matches at a question: by which papers a token is held, and how much it counts there."""

import numpy as np

from mpbert.foundation.transposing import transposed
from mpbert.methods.lexical.postings import Postings
from mpbert.vectors.matches import TokenWeights

# with AVX-512, OpenBLAS reads a matrix where it lies if a product takes no more multiplications
_UNCOPIED = 10**6
_QUESTIONS = 16  # of a product; of more, blocks are too small for processors without AVX-512


class PapersByToken:
    """The weights of all papers, token after token; an index holds them so, and maps them.

    :param postings: papers by token, ascending at each; ``num_papers`` N.
    """

    def __init__(self, postings: Postings, num_papers: int) -> None:
        self.postings, self._num_papers = postings, num_papers

    def __len__(self) -> int:
        return self._num_papers

    @property
    def vocab_size(self) -> int:
        """Number of tokens V."""
        return len(self.postings.offsets) - 1

    @classmethod
    def of(cls, papers: TokenWeights) -> "PapersByToken":
        """Return the same weights, (N, V), token after token."""
        found = transposed(papers.offsets, papers.tokens, papers.weights, papers.vocab_size)
        return cls(Postings(*found), len(papers))

    def by_paper(self) -> TokenWeights:
        """Return the (N, V) weights, paper after paper."""
        held = self.postings
        found = transposed(held.offsets, held.papers, held.weights, len(self))
        return TokenWeights(*found, self.vocab_size)

    def scores(self, asked: TokenWeights) -> np.ndarray:
        """Return (N,) float64: Σ_token weight in the question · weight in the paper.

        :param asked: (1, V).
        """
        return self.postings.scores(asked.tokens, asked.weights, self._num_papers)


def cosines(vectors: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return (N,) float32 inner products with a vector, each summed up by itself.

    So the digits of a score depend on no other paper and on no number of threads. They are those of
    float32, as the vectors are: to copy these as float64 took most of the time of an answer.

    :param vectors: (N, D), mapped or not; ``asked`` (D,).
    """
    return np.einsum("d,nd->n", asked.astype(vectors.dtype, copy=False), vectors)


def near_cosines(vectors: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (B, N) inner products with several vectors and how far they may be off.

    The vectors are read from memory once for all questions, which is what a single one waits for:
    in blocks so small that the library need not copy them first, which takes half of the time.
    A sum of D products in float32, in any order, is off by D·2^-24 at most where the vectors have
    length 1 (Higham 2002, Sec. 3.1); that of :func:`cosines` may be off to the other side.

    :param vectors: (N, D) of length 1 or 0, ``asked`` (B, D).
    """
    slack = 2 * (vectors.shape[1] + 2) * 2.0**-24 * (1 + 1e-3)
    found = np.empty((len(asked), len(vectors)), dtype=vectors.dtype)
    for first in range(0, len(asked), _QUESTIONS):
        some = slice(first, first + _QUESTIONS)
        found[some] = _products(vectors, np.ascontiguousarray(asked[some].T, vectors.dtype)).T
    return found, slack


def _products(vectors: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return (N, B) products of (N, D) rows and (D, B) columns, block after block."""
    products = np.empty((len(vectors), columns.shape[1]), dtype=vectors.dtype)
    rows = max(_UNCOPIED // max(columns.size, 1), 1)
    for start in range(0, len(vectors), rows):
        block = slice(start, start + rows)
        np.matmul(vectors[block], columns, out=products[block])
    return products
