"""An encoder directory that reads texts which stand in no corpus: one interface, two makers.

A token bag is read with numpy (:mod:`mpbert.model.bag_reader`). An encoder with a sentence or
document level is run by torch (:mod:`mpbert.model.level_reader`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from mpbert.model.bag_reader import BagReader
from mpbert.model.description import EncoderDescription
from mpbert.model.sampling import SampledSentences
from mpbert.vectors.matches import TokenWeights


class TextEncoder(Protocol):
    """Both towers of an encoder.

    Of each method: ``texts`` are sentences, and ``sampled`` what is read of them, by their places.

    :ivar reads_apart: whether no digit of a vector depends on what is read with its text.
    """

    reads_apart: bool

    @property
    def num_matched(self) -> int:
        """Number of tokens V whose exact matches count; 0: they do not."""

    def read_ahead(self, manuscripts: Sequence[tuple[Sequence[str], SampledSentences]]) -> None:
        """Read what :meth:`embed_manuscripts` will need for these, if that is faster together."""

    def embed_manuscripts(self, texts: Sequence[str], sampled: SampledSentences) -> np.ndarray:
        """Return (B, D) float32 vectors of manuscripts."""

    def embed_papers(self, texts: Sequence[str], sampled: SampledSentences) -> np.ndarray:
        """Return (B, D) float32 vectors of papers that may be cited."""

    def weigh_manuscripts(self, texts: Sequence[str], sampled: SampledSentences) -> TokenWeights:
        """Return (B, V) weights of the tokens of manuscripts, for search."""

    def weigh_papers(self, texts: Sequence[str], sampled: SampledSentences) -> TokenWeights:
        """Return (B, V) weights of the tokens of papers."""


def open_text_encoder(path: Path, description: EncoderDescription) -> TextEncoder:
    """Return what reads texts with an encoder.

    :param description: of the encoder directory ``path``.
    :raises EncoderError: the encoder is damaged.
    :raises ModuleNotFoundError: it has levels, and a package that runs them is not installed.
    """
    if description.is_bag:
        return BagReader(path, description)
    from mpbert.model.level_reader import LevelReader  # torch, a second or two

    return LevelReader(path, description)
