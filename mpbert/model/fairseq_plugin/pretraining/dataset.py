"""Blocks of consecutive sentences with some of them masked, as fairseq batches."""

from typing import Any

import numpy as np

from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.special_tokens import END, SENTENCE_MASK
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.model.fairseq_plugin.bases import BudgetDataset, evenly_spaced
from mpbert.model.masking import choose_masks, mask_sentences, mask_vectors
from mpbert.model.packing import pack, pack_masked
from mpbert.pretrained.sentence_vectors import SentenceVectors


def blocks_of(paper_lengths: np.ndarray, max_sentences: int) -> tuple[np.ndarray, np.ndarray]:
    """Cut papers into blocks of consecutive sentences; HIBERT reads 30 of a document.

    A paper of 70 sentences gives blocks of 30, 30 and 10, so that all of its text is read.

    :returns: (M,) paper of each block, (M,) number of its block within the paper.
    """
    per_paper = -(-paper_lengths // max_sentences)
    papers = row_numbers(per_paper)
    return papers, np.arange(len(papers)) - offsets_of(per_paper)[papers]


class Blocks(BudgetDataset):
    """Blocks of the sentences of some papers; masks are drawn afresh in each epoch.

    :param papers: rows of the papers to read.
    :param max_sentences: of a block.
    :param max_blocks: keep so many, evenly spaced (validation); None keeps all.
    """

    def __init__(
        self,
        corpus: BinaryCorpus,
        papers: np.ndarray,
        max_sentences: int,
        seed: int,
        shuffle: bool,
        max_blocks: int | None = None,
    ) -> None:
        super().__init__(seed, shuffle)
        self.corpus = corpus
        starts, lengths = self._sentences_of(papers)
        places, numbers = blocks_of(lengths, max_sentences)
        first = starts[places] + numbers * max_sentences
        left = starts[places] + lengths[places] - first
        kept = evenly_spaced(len(first), max_blocks)
        self.first = first[kept]
        self.sizes_in_sentences = np.minimum(max_sentences, left)[kept]
        tokens = corpus.token_offsets
        self._costs = tokens[self.first + self.sizes_in_sentences] - tokens[self.first]

    def _sentences_of(self, papers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (P,) the first sentence of each paper, and (P,) how many it has."""
        first = self.corpus.sentence_offsets[papers]
        return first, self.corpus.sentence_offsets[papers + 1] - first

    def costs(self) -> np.ndarray:
        """Return the tokens of each block."""
        return self._costs

    def collater(self, samples: list[int]) -> dict[str, Any]:
        """Mask and pack a batch of blocks."""
        if len(samples) == 0:  # fairseq's filler where one process has a batch less than another
            return {}
        blocks = np.asarray(samples)
        per_paper = self.sizes_in_sentences[blocks]
        sentences = ranges(self.first[blocks], per_paper)
        batch = self._masked(sentences, per_paper, self.rng_of_masks(samples))
        return {**batch, "num_papers": len(blocks)}

    def _masked(
        self, sentences: np.ndarray, per_paper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Return what the model reads of (S,) sentences, and which of them it guesses."""
        raise NotImplementedError


class MaskedBlocks(Blocks):
    """Blocks whose masked sentences are guessed token by token."""

    def _masked(
        self, sentences: np.ndarray, per_paper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, Any]:
        tokens, lengths = self.corpus.gather(sentences)
        masks = choose_masks(per_paper, rng)
        return {
            "papers": pack(*mask_sentences(tokens, lengths, masks, SENTENCE_MASK), per_paper),
            "masked": pack_masked(tokens, lengths, per_paper, masks.masked, END),
            "num_tokens": len(tokens),
        }


class MaskedTokenVectorBlocks(Blocks):
    """Blocks of which vectors are guessed that the model makes of tokens."""

    def _masked(
        self, sentences: np.ndarray, per_paper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, Any]:
        papers = pack(*self.corpus.gather(sentences), per_paper)
        return {"papers": papers, **mask_vectors(per_paper, rng)}


class MaskedVectorBlocks(Blocks):
    """Blocks of the sentences that have a stored vector, which is guessed.

    :param vectors: of the corpus; ``others`` are those of :class:`Blocks`.
    """

    def __init__(self, vectors: SentenceVectors, *others: Any, **named: Any) -> None:
        self.vectors = vectors
        super().__init__(*others, **named)

    def _sentences_of(self, papers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, lengths = super()._sentences_of(papers)
        numbers = ranges(first, lengths)
        has = self.vectors.has(numbers)
        self.numbers = numbers[has]  # of which blocks are made
        counts = np.bincount(row_numbers(lengths)[has], minlength=len(papers))
        return offsets_of(counts)[:-1], counts

    def costs(self) -> np.ndarray:
        """Return the sentences of each block, which count as tokens here: none is read."""
        return self.sizes_in_sentences

    def _masked(
        self, sentences: np.ndarray, per_paper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, Any]:
        true = self.vectors.gather(self.numbers[sentences])
        one = np.ones(len(true), dtype=np.int64)  # no token is read
        papers = pack(one, one, per_paper, vectors=true)
        return {"papers": papers, **mask_vectors(per_paper, rng)}
