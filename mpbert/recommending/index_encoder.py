"""What every encoder of an index does; the one of an index by words does nothing."""

from collections.abc import Sequence

import numpy as np

from mpbert.vectors.matches import TokenWeights

Places = Sequence[tuple[Sequence[str], int]]
"""Of each manuscript its sentences, and which of them is asked about."""

PaperTexts = tuple[str, Sequence[str], int]
"""Id of a paper; its title, abstract and body; how many of them are title and abstract."""


class IndexEncoder:
    """Makes the vectors of an index, and with exact matches the weights of tokens.

    This one is of an index by words: its vectors have no dimension, its weights no token.

    :ivar dim: dimensions D of a vector; 0: there are no vectors.
    :ivar num_matched: tokens V whose exact matches count; 0: they do not.
    """

    dim = num_matched = 0

    def embed_manuscript(self, sentences: Sequence[str], place: int) -> np.ndarray:
        """Return the (D,) vector of length 1 of a manuscript around one sentence."""
        return np.zeros(0, dtype=np.float32)

    def embed_manuscripts(self, asked: Places) -> np.ndarray:
        """Return (B, D) vectors, each to the digit that of :meth:`embed_manuscript`."""
        return np.stack([self.embed_manuscript(*one) for one in asked])

    def read_ahead(self, manuscripts: Places) -> None:
        """Read what :meth:`embed_manuscript` will need for these, if that is faster together."""

    def embed_papers(self, papers: Sequence[PaperTexts]) -> np.ndarray:
        """Return (K, D) vectors of length 1; that of a paper does not depend on other papers."""
        return np.zeros((len(papers), 0), dtype=np.float32)

    def weigh_manuscript(self, sentences: Sequence[str], place: int) -> TokenWeights:
        """Return (1, V) weights of the tokens of a manuscript around one sentence."""
        return _no_weights()

    def weigh_manuscripts(self, asked: Places) -> list[TokenWeights]:
        """Return the weights of several, each to the digit those of :meth:`weigh_manuscript`."""
        return [self.weigh_manuscript(*one) for one in asked]

    def weigh_paper(
        self, paper_id: str, sentences: Sequence[str], num_abstract: int
    ) -> TokenWeights:
        """Return (1, V) weights of the tokens of a paper."""
        return _no_weights()


def _no_weights() -> TokenWeights:
    none = np.zeros(0, dtype=np.int32)
    return TokenWeights(np.zeros(2, dtype=np.int64), none, none.astype(np.float32), 0)
