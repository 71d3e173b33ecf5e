"""An encoder with a sentence or document level reads texts, with torch."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mpbert.model.description import EncoderDescription
from mpbert.model.directory import load_two_tower
from mpbert.model.embedding import embed_sampled, weigh_counts
from mpbert.model.sampling import SampledSentences
from mpbert.model.sentences import text_sentences
from mpbert.vectors.matches import TokenWeights

_BATCH_TOKENS = 16384  # of a batch: bounds memory, does not change the vectors


class LevelReader:
    """Both towers of an encoder, see :class:`mpbert.model.bag_reader.BagReader`.

    :param path: encoder directory, ``description`` what it says.
    :raises EncoderError: it is damaged.
    """

    reads_apart = False

    def __init__(self, path: Path, description: EncoderDescription) -> None:
        self._model = load_two_tower(path).eval()
        self._sentences = text_sentences(path, description)

    @property
    def num_matched(self) -> int:
        """Number of tokens V whose exact matches count; 0: they do not."""
        return self._model.config.vocab_size if self._model.lexical else 0

    def read_ahead(self, manuscripts: Sequence[tuple[Sequence[str], SampledSentences]]) -> None:
        """Let the pretrained encoder read its sentences of manuscripts, sorted by length.

        The others are read by the bag alone. It remembers some thousands.
        """
        if self._sentences.encoder is None:
            return
        read = (
            texts[number]
            for texts, sampled in manuscripts
            for number in sampled.sentences[self._sentences.is_upper(sampled)].tolist()
        )
        self._sentences.encoder.encode(list(dict.fromkeys(read)))

    def embed_manuscripts(self, texts: Sequence[str], sampled: SampledSentences) -> np.ndarray:
        """Return (B, D) float32 vectors of manuscripts; ``sampled`` are places in ``texts``."""
        source = self._sentences.of(texts, sampled.sentences)
        return embed_sampled(self._model.manuscript, sampled, source, _BATCH_TOKENS)

    def embed_papers(self, texts: Sequence[str], sampled: SampledSentences) -> np.ndarray:
        """Return (B, D) float32 vectors of papers that may be cited."""
        source = self._sentences.of(texts, sampled.sentences)
        return embed_sampled(self._model.citation, sampled, source, _BATCH_TOKENS)

    def weigh_manuscripts(self, texts: Sequence[str], sampled: SampledSentences) -> TokenWeights:
        """Return (B, V) weights of the tokens of manuscripts, for search."""
        return self._weigh(self._model.lexical.search_weights, texts, sampled)

    def weigh_papers(self, texts: Sequence[str], sampled: SampledSentences) -> TokenWeights:
        """Return (B, V) weights of the tokens of papers."""
        return self._weigh(self._model.lexical.weigh_papers, texts, sampled)

    def _weigh(
        self, weigh: object, texts: Sequence[str], sampled: SampledSentences
    ) -> TokenWeights:
        source = self._sentences.of(texts, sampled.sentences)
        counts = source.counts_of(sampled, self.num_matched)
        return TokenWeights.of(weigh_counts(weigh, counts, self.num_matched))
