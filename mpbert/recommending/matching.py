"""Exact matches at a question: by which papers a token is held, and how much it counts there."""

import numpy as np

from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.vectors.matches import TokenWeights


class PapersByToken:
    """The weights of all papers, token after token.

    :param papers: (N, V).
    """

    def __init__(self, papers: TokenWeights) -> None:
        self._num_papers = len(papers)
        # numpy sorts numbers of 16 bits by counting, several times as fast
        narrow = papers.tokens.astype(np.min_scalar_type(max(papers.vocab_size - 1, 0)))
        order = np.argsort(narrow, kind="stable")
        counts = np.bincount(papers.tokens, minlength=papers.vocab_size)
        self._offsets = offsets_of(counts)  # (V + 1,)
        self._papers = row_numbers(np.diff(papers.offsets)).astype(np.int32)[order]
        self._weights = papers.weights[order]

    def scores(self, asked: TokenWeights) -> np.ndarray:
        """Return (N,) float64: Σ_token weight in the question · weight in the paper.

        :param asked: (1, V).
        """
        if not len(asked.tokens):
            return np.zeros(self._num_papers)
        ends = zip(self._offsets[asked.tokens], self._offsets[asked.tokens + 1], strict=True)
        held = [slice(start, end) for start, end in ends]
        weights = asked.weights.astype(np.float64)
        parts = [
            weight * self._weights[at].astype(np.float64)
            for weight, at in zip(weights, held, strict=True)
        ]
        papers = np.concatenate([self._papers[at] for at in held])
        return np.bincount(papers, weights=np.concatenate(parts), minlength=self._num_papers)


def cosines(vectors: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return (N,) float32 inner products with a vector, each summed up by itself.

    So the digits of a score depend on no other paper and on no number of threads. They are those of
    float32, as the vectors are: to copy these as float64 took most of the time of an answer.

    :param vectors: (N, D), mapped or not; ``asked`` (D,).
    """
    return np.einsum("d,nd->n", asked.astype(vectors.dtype, copy=False), vectors)
