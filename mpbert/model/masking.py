"""Sentence masking of HIBERT (Zhang et al., ACL 2019, Sec. 3.2), for a whole batch at once."""

from typing import NamedTuple

import numpy as np

from mpbert.foundation.ragged import offsets_of, ranges, row_numbers, smallest_per_row


class MaskedBatch(NamedTuple):
    """A batch of documents with some sentences masked.

    :param tokens: (N,) input tokens; ``lengths`` (S,) tokens of each sentence.
    :param masked: (M,) ascending sentence numbers to predict.
    """

    tokens: np.ndarray
    lengths: np.ndarray
    masked: np.ndarray


def num_masked(
    sentences_per_paper: np.ndarray, probability: float = 0.15, limit: int = 5
) -> np.ndarray:
    """Return (B,) how many sentences of each document to mask: 15 %, at least 1, at most 5."""
    return np.clip((sentences_per_paper * probability).astype(np.int64), 1, limit)


def mask_sentences(
    tokens: np.ndarray,
    lengths: np.ndarray,
    sentences_per_paper: np.ndarray,
    mask_token: int,
    rng: np.random.Generator,
    probability: float = 0.15,
    limit: int = 5,
) -> MaskedBatch:
    """Mask sentences: 80 % become mask tokens, 10 % stay, 10 % come from another document.

    A hidden sentence keeps its length and its last token, the separator. The replacement is a
    random sentence of the batch, of any length; after ten tries that met the same document it stays
    unchanged.

    :param tokens: (N,) token ids of all sentences; not changed.
    :param lengths: (S,) tokens of each sentence.
    :param sentences_per_paper: (B,) sentences of each document.
    :param mask_token: id of ``<SENT_MASK>``.
    """
    num_sentences = len(lengths)
    masked = smallest_per_row(
        rng.random(num_sentences),
        sentences_per_paper,
        num_masked(sentences_per_paper, probability, limit),
    )
    action = rng.random(len(masked))
    source = np.arange(num_sentences)
    replaced = masked[action >= 0.9]
    source[replaced] = _sentences_of_other_papers(replaced, row_numbers(sentences_per_paper), rng)
    new_lengths = lengths[source]
    new_tokens = tokens[ranges(offsets_of(lengths)[:-1][source], new_lengths)]  # a copy
    hidden = masked[action < 0.8]
    new_tokens[ranges(offsets_of(new_lengths)[:-1][hidden], new_lengths[hidden] - 1)] = mask_token
    return MaskedBatch(new_tokens, new_lengths, masked)


def _sentences_of_other_papers(
    sentences: np.ndarray, papers: np.ndarray, rng: np.random.Generator, tries: int = 10
) -> np.ndarray:
    chosen = sentences.copy()
    for _ in range(tries):
        same = papers[chosen] == papers[sentences]
        chosen[same] = rng.integers(len(papers), size=int(same.sum()))
    same = papers[chosen] == papers[sentences]
    chosen[same] = sentences[same]
    return chosen
