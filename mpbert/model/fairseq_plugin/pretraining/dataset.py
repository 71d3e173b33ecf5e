"""Blocks of consecutive sentences with some of them masked, as fairseq batches."""

from typing import Any

import numpy as np

from mpbert.corpus.binary import END, SENTENCE_MASK, BinaryCorpus
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.model.fairseq_plugin.dataset import BudgetDataset, evenly_spaced
from mpbert.model.masking import choose_masks, mask_sentences
from mpbert.model.packing import pack, pack_masked


def blocks_of(paper_lengths: np.ndarray, max_sentences: int) -> tuple[np.ndarray, np.ndarray]:
    """Cut papers into blocks of consecutive sentences; HIBERT reads 30 of a document.

    A paper of 70 sentences gives blocks of 30, 30 and 10, so that all of its text is read.

    :returns: (M,) paper of each block, (M,) number of its block within the paper.
    """
    per_paper = -(-paper_lengths // max_sentences)
    papers = row_numbers(per_paper)
    return papers, np.arange(len(papers)) - offsets_of(per_paper)[papers]


class MaskedBlocks(BudgetDataset):
    """Blocks of the papers of one split; masks are drawn afresh in each epoch."""

    def __init__(
        self,
        corpus: BinaryCorpus,
        papers: np.ndarray,
        max_sentences: int,
        seed: int,
        shuffle: bool,
        max_blocks: int | None = None,
    ) -> None:
        """Cut the papers into blocks.

        :param papers: rows of the papers to read.
        :param max_blocks: keep so many, evenly spaced (validation); None keeps all.
        """
        super().__init__(seed, shuffle)
        self.corpus = corpus
        offsets = corpus.sentence_offsets
        lengths = offsets[papers + 1] - offsets[papers]
        places, numbers = blocks_of(lengths, max_sentences)
        self.first = offsets[papers[places]] + numbers * max_sentences
        left = offsets[papers[places] + 1] - self.first
        self.sizes_in_sentences = np.minimum(max_sentences, left)
        kept = evenly_spaced(len(self.first), max_blocks)
        self.first, self.sizes_in_sentences = self.first[kept], self.sizes_in_sentences[kept]
        tokens = corpus.token_offsets
        self._costs = tokens[self.first + self.sizes_in_sentences] - tokens[self.first]

    def costs(self) -> np.ndarray:
        """Return the tokens of each block."""
        return self._costs

    def collater(self, samples: list[int]) -> dict[str, Any]:
        """Mask and pack a batch of blocks."""
        if len(samples) == 0:  # fairseq's filler where one process has a batch less than another
            return {}
        blocks = np.asarray(samples)
        per_paper = self.sizes_in_sentences[blocks]
        tokens, lengths = self.corpus.gather(ranges(self.first[blocks], per_paper))
        masks = choose_masks(per_paper, self.rng_of_masks(samples))
        return {
            "papers": pack(*mask_sentences(tokens, lengths, masks, SENTENCE_MASK), per_paper),
            "masked": pack_masked(tokens, lengths, per_paper, masks.masked, END),
            "num_papers": len(blocks),
            "num_tokens": len(tokens),
        }
