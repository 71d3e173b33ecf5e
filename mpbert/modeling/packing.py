"""Ragged papers without padding.

A batch is laid out twice. Sentences are sorted by their number of tokens, papers by their number
of sentences, so that rows of equal length are neighbours: each such group is a *view* of shape
(rows, length, D), attention runs on the views, and nothing is ever padded or masked.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mpbert.data.ragged import offsets_of, ranges

Groups = list[tuple[int, int]]
"""(number of rows, length of each) per group, in the order in which they lie in memory."""


class PackedPapers(NamedTuple):
    """A batch of papers (or manuscripts), each a list of sentences, each a list of tokens.

    :param tokens: (N,) token ids, sentence after sentence, sentences ascending by length.
    :param sentence_groups: groups of sentences: (sentences, tokens of each).
    :param sentence_order: (S,) place among the packed sentences of each sentence, the sentences
        taken paper after paper, papers ascending by number of sentences.
    :param paper_groups: groups of papers: (papers, sentences of each).
    :param paper_order: (B,) place among the packed papers of each paper in the caller's order.
    """

    tokens: Tensor
    sentence_groups: Groups
    sentence_order: Tensor
    paper_groups: Groups
    paper_order: Tensor


class MaskedSentences(NamedTuple):
    """The sentences to predict, packed by length (Zhang et al., ACL 2019, Sec. 3.2).

    :param rows: (M,) row of each among the document encoder's sentence vectors.
    :param inputs: (N,) decoder input: end-of-sequence, then the sentence without its last token.
    :param targets: (N,) the sentence, its separator replaced by end-of-sequence.
    :param groups: groups of masked sentences.
    """

    rows: Tensor
    inputs: Tensor
    targets: Tensor
    groups: Groups


def sort_by_length(lengths: np.ndarray) -> tuple[np.ndarray, Groups]:
    """Return the (M,) stable order of rows by length, and the groups of equal length."""
    order = np.argsort(lengths, kind="stable")
    values, counts = np.unique(lengths, return_counts=True)
    return order, list(zip(counts.tolist(), values.tolist(), strict=True))


def inverse(order: np.ndarray) -> np.ndarray:
    """Return the permutation that undoes ``order``."""
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return back


def pack(tokens: np.ndarray, lengths: np.ndarray, sentences_per_paper: np.ndarray) -> PackedPapers:
    """Lay out a batch.

    :param tokens: (N,) token ids of all sentences of all papers, in the caller's order.
    :param lengths: (S,) tokens of each sentence, at least 1.
    :param sentences_per_paper: (B,) sentences of each paper, at least 1.
    """
    paper_order, paper_groups = sort_by_length(sentences_per_paper)
    first = offsets_of(sentences_per_paper)[:-1]
    by_paper = ranges(first[paper_order], sentences_per_paper[paper_order])  # (S,)
    by_length, sentence_groups = sort_by_length(lengths[by_paper])
    sentences = by_paper[by_length]  # packed place -> the caller's sentence
    token_order = ranges(offsets_of(lengths)[:-1][sentences], lengths[sentences])
    return PackedPapers(
        tokens=torch.from_numpy(tokens[token_order].astype(np.int64)),
        sentence_groups=sentence_groups,
        sentence_order=torch.from_numpy(inverse(by_length)),
        paper_groups=paper_groups,
        paper_order=torch.from_numpy(inverse(paper_order)),
    )


def document_rows(sentences_per_paper: np.ndarray) -> np.ndarray:
    """Return (S,) the row that each of the caller's sentences has after the document encoder."""
    order, _ = sort_by_length(sentences_per_paper)
    first = offsets_of(sentences_per_paper)[:-1]
    return inverse(ranges(first[order], sentences_per_paper[order]))


def pack_masked(
    tokens: np.ndarray,
    lengths: np.ndarray,
    sentences_per_paper: np.ndarray,
    masked: np.ndarray,
    end_token: int,
) -> MaskedSentences:
    """Lay out the sentences to predict.

    :param tokens: (N,) the original tokens of all sentences, before masking.
    :param masked: (M,) numbers of the masked sentences.
    :param end_token: id of end-of-sequence: first input and last target of every sentence.
    """
    order, groups = sort_by_length(lengths[masked])
    sentences = masked[order]
    sizes = lengths[sentences]
    targets = tokens[ranges(offsets_of(lengths)[:-1][sentences], sizes)].astype(np.int64)
    ends = np.cumsum(sizes) - 1
    targets[ends] = end_token
    inputs = np.roll(targets, 1)  # the last target of a sentence is the first input of the next
    return MaskedSentences(
        rows=torch.from_numpy(document_rows(sentences_per_paper)[sentences]),
        inputs=torch.from_numpy(inputs),
        targets=torch.from_numpy(targets),
        groups=groups,
    )


def split_groups(x: Tensor, groups: Groups) -> list[Tensor]:
    """Return views (rows, length, ...) of the groups of ``x`` (N, ...)."""
    parts = x.split([rows * length for rows, length in groups])
    return [
        part.view(rows, length, *x.shape[1:])
        for part, (rows, length) in zip(parts, groups, strict=True)
    ]


def places(groups: Groups, device: torch.device) -> Tensor:
    """Return (N,) the 0-based place of each element in its row."""
    return torch.cat([torch.arange(length, device=device).repeat(rows) for rows, length in groups])


def spread(rows_of_vectors: Tensor, groups: Groups) -> Tensor:
    """Return (N, D): the (M, D) vector of each row, repeated for each of its elements."""
    parts = rows_of_vectors.split([rows for rows, _ in groups])
    return torch.cat(
        [
            part.unsqueeze(1).expand(-1, length, -1).flatten(0, 1)
            for part, (_, length) in zip(parts, groups, strict=True)
        ]
    )
