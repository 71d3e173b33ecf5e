"""Sentence masking of HIBERT (Zhang et al., ACL 2019, Sec. 3.2), for a whole batch at once.

What HIBERT calls a document is a block here: consecutive sentences of a paper.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mpbert.foundation.ragged import offsets_of, ranges, row_numbers, smallest_per_row
from mpbert.model.packing import document_rows

_SHARE, _MOST = 0.15, 5  # of the sentences of a block, which are masked
_TRIES = 10  # to meet another block


class Masks(NamedTuple):
    """What is masked of a batch of S sentences.

    :param masked: (M,) ascending sentence numbers to predict; ``hidden`` those that are not seen.
    :param source: (S,) which sentence stands in the place of each: itself, or one of another block.
    """

    masked: np.ndarray
    hidden: np.ndarray
    source: np.ndarray


def num_masked(sentences_per_block: np.ndarray) -> np.ndarray:
    """Return (B,) how many sentences of each block to mask: 15 %, at least 1, at most 5."""
    return np.clip((sentences_per_block * _SHARE).astype(np.int64), 1, _MOST)


def choose_masks(sentences_per_block: np.ndarray, rng: np.random.Generator) -> Masks:
    """Choose sentences: 80 % are hidden, 10 % stay, 10 % come from another block.

    The replacement is a random sentence of the batch; after ten tries that met the same block the
    sentence stays.

    :param sentences_per_block: (B,) sentences of each block.
    """
    num_sentences = int(sentences_per_block.sum())
    masked = smallest_per_row(
        rng.random(num_sentences), sentences_per_block, num_masked(sentences_per_block)
    )
    action = rng.random(len(masked))
    source = np.arange(num_sentences)
    replaced = masked[action >= 0.9]
    source[replaced] = _sentences_of_other_blocks(replaced, row_numbers(sentences_per_block), rng)
    return Masks(masked, masked[action < 0.8], source)


def mask_vectors(sentences_per_block: np.ndarray, rng: np.random.Generator) -> dict[str, Tensor]:
    """Return, as rows of sentences packed by block, what ``MaskedVectorModel`` reads.

    :param sentences_per_block: (B,) in the caller's order.
    :returns: ``source`` (S,) row that stands in the place of each, ``hidden`` rows that are not
        seen, ``masked`` (M,) rows to guess.
    """
    masks, rows = choose_masks(sentences_per_block, rng), document_rows(sentences_per_block)
    source = np.empty_like(rows)
    source[rows] = rows[masks.source]
    found = {"source": source, "hidden": rows[masks.hidden], "masked": rows[masks.masked]}
    return {name: torch.from_numpy(value) for name, value in found.items()}


def mask_sentences(
    tokens: np.ndarray, lengths: np.ndarray, masks: Masks, mask_token: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens and lengths of the sentences as the model sees them.

    A hidden sentence keeps its length and its last token, the separator.

    :param tokens: (N,) token ids of all sentences; not changed.
    :param lengths: (S,) tokens of each sentence.
    :param mask_token: id of ``<SENT_MASK>``.
    """
    new_lengths = lengths[masks.source]
    new_tokens = tokens[ranges(offsets_of(lengths)[:-1][masks.source], new_lengths)]  # a copy
    starts, inner = offsets_of(new_lengths)[:-1][masks.hidden], new_lengths[masks.hidden] - 1
    new_tokens[ranges(starts, inner)] = mask_token
    return new_tokens, new_lengths


def _sentences_of_other_blocks(
    sentences: np.ndarray, blocks: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    chosen = sentences.copy()
    for _ in range(_TRIES):
        same = blocks[chosen] == blocks[sentences]
        chosen[same] = rng.integers(len(blocks), size=int(same.sum()))
    same = blocks[chosen] == blocks[sentences]
    chosen[same] = sentences[same]
    return chosen
