"""Sentences by their numbers: tokens, vectors of a pretrained encoder, and batches of them.

What training, embedding and recommending share between a reading and the encoder.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.subwords import TextTokenizer
from mpbert.foundation.errors import EncoderError
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.model.config import UpperConfig
from mpbert.model.description import SENTENCE_ENCODER, EncoderDescription, read_tokenizer
from mpbert.model.packing import PackedPapers, TokenCounts, pack
from mpbert.model.sampling import SampledSentences
from mpbert.model.token_counts import count_tokens
from mpbert.pretrained.sentence_vectors import SentenceVectors

if TYPE_CHECKING:  # torch and a library that a base installation lacks
    from mpbert.pretrained.sentence_encoder import SentenceEncoder

_REMEMBERED = 4096  # sentences, those that were read last: 6 MiB of 384 dimensions
Gather = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""(S,) sentence numbers -> their tokens, one after another, and (S,) lengths."""


@dataclass(frozen=True)
class Sentences:
    """Where an encoder gets the sentences that are read.

    :param gather: tokens of sentences.
    :param upper_roles: of sentences that levels beside the bag read; empty: there are none.
    :param vectors: (S,) sentence numbers -> (S, E) float32 of a pretrained encoder; None: the
        model reads tokens alone.
    :param texts: (S,) sentence numbers -> (S,) stored texts, of which vectors are made later, where
        the encoder is tuned; None: it is not.
    """

    gather: Gather
    upper_roles: Sequence[int] = ()
    vectors: Callable[[np.ndarray], np.ndarray] | None = None
    texts: Callable[[np.ndarray], np.ndarray] | None = None

    def batch(self, sampled: SampledSentences) -> PackedPapers:
        """Lay out what was read of some papers or manuscripts."""
        packed = pack(*self.gather(sampled.sentences), sampled.per_item, sampled.roles)
        if not self.upper_roles:
            return packed
        kept = np.isin(sampled.roles, self.upper_roles)
        owner = row_numbers(sampled.per_item)[kept]
        sentences = sampled.sentences[kept]
        upper = pack(
            *self.gather(sentences),
            np.bincount(owner, minlength=len(sampled.per_item)),
            sampled.roles[kept],
            self.vectors(sentences) if self.vectors else None,
            self.texts(sentences) if self.texts else None,
        )
        return replace(packed, upper=upper)

    def counts_of(self, sampled: SampledSentences, vocab_size: int) -> TokenCounts:
        """Return the tokens of what was read of manuscripts or papers, for exact matches."""
        read = self.gather(sampled.sentences)
        counts = count_tokens(*read, sampled.per_item, sampled.roles, vocab_size)
        return TokenCounts.of(counts)


def sentences_of(
    corpus: BinaryCorpus, upper: UpperConfig, stored: Path | None, encoder: Path, device: object
) -> Sentences:
    """Return where an encoder gets the sentences of a corpus.

    :param upper: of the encoder.
    :param stored: vectors of its pretrained encoder, made by ``embed-sentences``.
    :param encoder: its directory; ``device`` where its tuned layers run, if it has any.
    :raises EncoderError: they are of another encoder, or are not given, or not needed.
    """
    expected = upper.pretrained_sha256
    if bool(expected) != (stored is not None):
        needs = (
            "needs them: give the output of mpbert embed-sentences" if expected else "reads none"
        )
        raise EncoderError(f"--sentence-vectors {stored}: the encoder {needs}")
    if stored is None:
        return Sentences(corpus.gather, upper.roles)
    vectors = SentenceVectors(stored)
    vectors.check_corpus(corpus.path)
    if vectors.model_sha256 != expected:
        raise EncoderError(
            f"{stored}: found vectors of the model {vectors.model_sha256[:12]}; the encoder was "
            f"trained with those of {expected[:12]}: run mpbert embed-sentences with that model"
        )
    check_states(vectors, upper)
    if not upper.tuned_layers:
        return Sentences(corpus.gather, upper.roles, vectors.gather)
    from mpbert.model.tuned import TunedLayers, TunedVectors

    whole = pretrained_encoder(encoder, upper, device)
    tuned = TunedVectors(vectors, TunedLayers(whole, upper.tuned_layers))
    return Sentences(corpus.gather, upper.roles, tuned.gather)


def check_states(stored: SentenceVectors, upper: UpperConfig) -> None:
    """Check that a store has the token states that enter the tuned layers of an encoder.

    :raises EncoderError: it has those of another number of layers, or none.
    """
    if upper.tuned_layers and stored.tuned_layers != upper.tuned_layers:
        raise EncoderError(
            f"{stored.path}: found token states for {stored.tuned_layers} tuned layers; expected "
            f"{upper.tuned_layers}, as tuned_layers says: run mpbert embed-sentences with "
            f"--tuned-layers {upper.tuned_layers}"
        )


def pretrained_encoder(path: Path, upper: UpperConfig, device: object = None) -> "SentenceEncoder":
    """Return the pretrained encoder of an encoder directory, with the layers that were tuned.

    :param device: of torch; None: the GPU where there is one.
    :raises EncoderError: it is missing or damaged.
    """
    from mpbert.model.directory import take_tuned
    from mpbert.pretrained.sentence_encoder import SentenceEncoder

    encoder = SentenceEncoder(path / SENTENCE_ENCODER, device)
    if upper.tuned_layers:
        take_tuned(encoder.top_layers(upper.tuned_layers), path)
    return encoder


class LatestVectors:
    """Remembers vectors by text, since questions on one manuscript share most of its sentences.

    Threads may share it.

    :param encode: (K,) texts -> (K, E) vectors, of which none depends on the others.
    """

    def __init__(self, encode: Callable[[Sequence[str]], np.ndarray]) -> None:
        self._encode, self._lock = encode, Lock()
        self._known: dict[str, np.ndarray] = {}

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return (K, E) vectors; only texts that are not remembered are read."""
        distinct = dict.fromkeys(texts)
        with self._lock:
            found = {text: self._known[text] for text in distinct if text in self._known}
        new = [text for text in distinct if text not in found]
        if new:
            found |= zip(new, self._encode(new), strict=True)
        with self._lock:
            for text in distinct:  # what was used last stays longest
                self._known.pop(text, None)
                self._known[text] = found[text]
            for text in list(self._known)[: max(len(self._known) - _REMEMBERED, 0)]:
                del self._known[text]
        return np.stack([found[text] for text in texts]) if len(texts) else self._encode(texts)


@dataclass(frozen=True)
class TextSentences:
    """Where an encoder gets sentences that are texts, and in no corpus.

    :param tokenize: cuts sentences as in training.
    :param upper_roles: as of :class:`Sentences`.
    :param encoder: the pretrained one; None: there is none.
    """

    tokenize: TextTokenizer
    upper_roles: Sequence[int] = ()
    encoder: LatestVectors | None = None

    def is_upper(self, sampled: SampledSentences) -> np.ndarray:
        """Return (S,) whether levels beside the bag read each sentence."""
        return np.isin(sampled.roles, self.upper_roles)

    def of(self, texts: Sequence[str], numbers: np.ndarray) -> Sentences:
        """Return the sentences of a list by their places in it.

        :param numbers: places of all that will be read; no other text is looked at.
        """
        read = np.unique(numbers)
        wanted = [texts[number] for number in read]
        tokens, lengths = self.tokenize(wanted)
        starts = offsets_of(lengths)[:-1]

        def gather(sentences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            places = np.searchsorted(read, sentences)
            return tokens[ranges(starts[places], lengths[places])], lengths[places]

        def vectors(sentences: np.ndarray) -> np.ndarray:
            distinct, places = np.unique(sentences, return_inverse=True)
            return self.encoder.encode([texts[number] for number in distinct])[places]

        return Sentences(gather, self.upper_roles, vectors if self.encoder else None)


def text_sentences(path: Path, description: EncoderDescription) -> TextSentences:
    """Return where an encoder directory gets sentences that are texts.

    :raises EncoderError: its tokenizer or its pretrained encoder is missing or damaged.
    """
    upper, encoder = description.model.upper, None
    if upper.pretrained_sha256:
        encoder = LatestVectors(pretrained_encoder(path, upper).encode)
    most = description.reading.sentence_tokens
    return TextSentences(TextTokenizer(read_tokenizer(path), most), upper.roles, encoder)
