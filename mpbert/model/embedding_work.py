"""Vectors of the papers and manuscripts of a binary corpus, some at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Optional

import numpy as np

from mpbert.corpus.binary import BinaryCorpus
from mpbert.foundation.engines import Job, Maker
from mpbert.foundation.parts import Arrays
from mpbert.foundation.processes import keep_few_kernels
from mpbert.model.description import read_description
from mpbert.model.directory import load_two_tower, pick_device
from mpbert.model.embedding import embed_sampled, mean_over_readings, weigh_counts
from mpbert.model.encoder import PaperEncoder
from mpbert.model.packing import TokenCounts
from mpbert.model.reading import Reading
from mpbert.model.sampling import CitingSentences, SampledSentences
from mpbert.model.sentences import sentences_of
from mpbert.model.token_counts import PaperTokens

PAPERS = "papers"
"""What papers are called, beside ``contexts.SPLIT``."""


@dataclass(frozen=True)
class Embedding(Job):
    """From (name, first, last + 1) items to their ``vectors``, and weights of exact matches if any.

    Weights are (N + 1,) ``offsets``, ``tokens`` and ``weights`` beside them, text after text.

    :param data: binary corpus; ``sentence_vectors`` of it, where the encoder reads such.
    :param readings: random readings of each item whose vectors are averaged.
    :param seed: of the readings.
    :param batch_tokens: most tokens of a batch; ``bf16`` whether products are in bfloat16.
    :param known: splits whose contexts papers are read with.
    """

    data: Path
    encoder: Path
    sentence_vectors: Optional[Path]
    readings: int
    seed: int
    batch_tokens: int
    device: str
    bf16: bool
    known: tuple[str, ...] = ("train",)

    @property
    def gpus(self) -> int:
        """One where the device is one."""
        return int(self.device.startswith("cuda"))

    def open(self) -> Maker:
        """Open the corpus and the encoder.

        :raises EncoderError: the encoder is damaged, or there is no such device.
        """
        keep_few_kernels()
        return _Opened(self)


class _Opened:
    def __init__(self, work: Embedding) -> None:
        self._work, self._corpus = work, BinaryCorpus(work.data)
        description = read_description(work.encoder)
        self._reading = Reading(description.reading, work.seed)
        device, upper = pick_device(work.device), description.model.upper
        self._source = sentences_of(
            self._corpus, upper, work.sentence_vectors, work.encoder, device
        )
        self._model = load_two_tower(work.encoder).eval().to(device)
        self._lexical = self._model.lexical.cpu() if self._model.lexical else None

    @cached_property
    def _citing(self) -> CitingSentences:
        contexts = self._corpus.contexts(*self._work.known)
        return CitingSentences.of(contexts, self._corpus.num_papers)

    def __call__(self, chosen: tuple[str, int, int]) -> Arrays:
        name, first, last = chosen
        items = np.arange(first, last)
        embed = partial(
            embed_sampled,
            self._tower(name),
            source=self._source,
            batch_tokens=self._work.batch_tokens,
            autocast_bf16=self._work.bf16,
        )
        vectors = mean_over_readings(self._reader(name, items), embed, self._work.readings)
        return {"vectors": vectors, **self._weights(name, items)}

    def _tower(self, name: str) -> PaperEncoder:
        return self._model.citation if name == PAPERS else self._model.manuscript

    def _reader(self, name: str, items: np.ndarray) -> Callable[[int], SampledSentences]:
        if name == PAPERS:
            return lambda visit: self._reading.papers_of(self._corpus, items, visit, self._citing)
        contexts = self._corpus.contexts(name.rpartition(".")[2])
        return lambda visit: self._reading.contexts_of(self._corpus, contexts, items, visit)

    def _weights(self, name: str, items: np.ndarray) -> Arrays:
        if self._lexical is None:
            return {}
        weigh = self._lexical.weigh_papers if name == PAPERS else self._lexical.search_weights
        found = weigh_counts(weigh, self._counts(name, items), self._corpus.vocab_size)
        return {"offsets": found.indptr, "tokens": found.indices, "weights": found.data}

    def _counts(self, name: str, items: np.ndarray) -> TokenCounts:
        if name == PAPERS:
            return self._paper_tokens.of(items)
        contexts = self._corpus.contexts(name.rpartition(".")[2])
        read = self._reading.nearest().contexts_of(self._corpus, contexts, items, 0)
        return self._source.counts_of(read, self._corpus.vocab_size)

    @cached_property
    def _paper_tokens(self) -> PaperTokens:
        return PaperTokens(self._corpus, self._citing)
