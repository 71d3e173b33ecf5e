"""TF-IDF: Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpbert.foundation.ragged import row_numbers
from mpbert.methods.lexical.method import LEXICAL, LexicalMethod

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse


def idf(num_holding: np.ndarray, num_texts: int) -> np.ndarray:
    """Return what a word weighs that so many texts hold, see :class:`TfIdf`."""
    return np.log((1 + num_texts) / (1 + num_holding)) + 1


def weigh(
    offsets: np.ndarray, words: np.ndarray, counts: np.ndarray, idf_of: np.ndarray
) -> np.ndarray:
    """Return (M,) weights of words in texts, each text of length 1, see :class:`TfIdf`.

    :param offsets: (N + 1,) text i holds ``words[offsets[i]:offsets[i + 1]]``, ``counts`` beside.
    :param idf_of: (V,) of all words.
    """
    weights = (np.log(counts.astype(np.float64)) + 1) * idf_of[words]
    sizes = np.diff(offsets)
    squares = np.bincount(row_numbers(sizes), weights * weights, minlength=len(sizes))
    return weights / np.repeat(np.sqrt(squares), sizes)


@LEXICAL.register
@dataclass
class TfIdf(LexicalMethod):
    """Cosine of TF-IDF vectors: Manning, Raghavan and Schütze (2008), Sec. 6.4.1.

    weight(w, d) = (1 + ln count(w, d)) · (1 + ln((1 + N) / (1 + df(w)))),  scaled to length 1
    """

    name: ClassVar[str] = "tfidf"

    def weigh_papers(self, counts: "sparse.csr_array") -> "sparse.csr_array":
        """Return rows of length 1, and keep the frequencies of words for the queries."""
        num_papers, num_words = counts.shape
        self._idf = idf(np.bincount(counts.indices, minlength=num_words), num_papers)
        return self.weigh_queries(counts)

    def weigh_queries(self, counts: "sparse.csr_array") -> "sparse.csr_array":
        """Return rows of length 1."""
        from scipy import sparse

        weights = weigh(counts.indptr, counts.indices, counts.data, self._idf)
        return sparse.csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
