"""Ragged papers without padding.

A batch is laid out twice. Sentences are sorted by their number of tokens, papers by their number
of sentences, so that rows of equal length are neighbours: each such group is a *view* of shape
(rows, length, D), and nothing is ever padded or masked.
"""

from bisect import bisect_right
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.model.config import ROLES

NUM_ROLES = len(ROLES)
B = TypeVar("B", bound="_OnDevice")


class _OnDevice:
    """A dataclass of tensors that moves to a device as a whole."""

    def to(self: B, device: torch.device) -> B:
        """Return the same batch on a device."""
        values = (getattr(self, field.name) for field in fields(self))
        moved = (v.to(device) if isinstance(v, (Tensor, _OnDevice)) else v for v in values)
        return type(self)(*moved)


@dataclass(frozen=True)
class Rows(_OnDevice):
    """M rows of N elements, ascending by length.

    :param groups: (number of rows, their length) of each distinct length, in order.
    :param row: (N,) row of each element; ``place`` (N,) its 0-based place in that row.
    :param offsets: (M + 1,) int32, row i owns elements ``offsets[i]`` to ``offsets[i + 1]``.
    """

    groups: list[tuple[int, int]]
    row: Tensor
    place: Tensor
    offsets: Tensor

    @classmethod
    def of(cls, lengths: np.ndarray) -> "Rows":
        """Lay out rows of these ascending lengths, which may begin with zeros."""
        values, counts = np.unique(lengths, return_counts=True)
        offsets = offsets_of(lengths)
        return cls(
            groups=list(zip(counts.tolist(), values.tolist(), strict=True)),
            row=torch.from_numpy(row_numbers(lengths)),
            place=torch.from_numpy(ranges(np.zeros(len(lengths)), lengths)),
            offsets=torch.from_numpy(offsets.astype(np.int32)),
        )

    @property
    def max_length(self) -> int:
        """Length of the longest row."""
        return self.groups[-1][1]

    def parts(self, most: int) -> list[tuple[slice, "Rows"]]:
        """Cut into parts of neighbouring rows, of at most so many elements or of one row.

        :returns: elements of each part, and its own rows.
        """
        ends, parts, first = self.offsets.tolist(), [], 0
        while first < len(ends) - 1:
            last = max(bisect_right(ends, ends[first] + most) - 1, first + 1)
            elements = slice(ends[first], ends[last])
            lengths = np.diff(ends[first : last + 1])
            parts.append((elements, Rows.of(lengths).to(self.offsets.device)))
            first = last
        return parts

    def views(self, x: Tensor) -> list[Tensor]:
        """Return views (rows, length, ...) of the groups of ``x`` (N, ...)."""
        parts = x.split([rows * length for rows, length in self.groups])
        return [
            part.view(rows, length, *x.shape[1:])
            for part, (rows, length) in zip(parts, self.groups, strict=True)
        ]


@dataclass(frozen=True)
class TokenCounts(_OnDevice):
    """The distinct tokens of a batch of texts, and how often sentences of each role hold them.

    :param tokens: (M,) token ids, text after text; ``texts`` (M,) whose they are.
    :param num_texts: B.
    :param places: (E,) place in ``tokens`` of each count that is not zero; ``roles`` (E,) and
        ``counts`` (E,) float32.
    """

    tokens: Tensor
    texts: Tensor
    num_texts: int
    places: Tensor
    roles: Tensor
    counts: Tensor

    @classmethod
    def of(cls, counts: sparse.csr_array) -> "TokenCounts":
        """Take apart the matrix (B, V·R) of ``token_counts.count_tokens``."""
        counts.sort_indices()
        texts = row_numbers(np.diff(counts.indptr))
        tokens, roles = np.divmod(counts.indices.astype(np.int64), NUM_ROLES)
        is_new = np.ones(len(tokens), dtype=bool)
        is_new[1:] = (np.diff(tokens) != 0) | (np.diff(texts) != 0)
        return cls(
            torch.from_numpy(tokens[is_new]),
            torch.from_numpy(texts[is_new]),
            counts.shape[0],
            torch.from_numpy(np.cumsum(is_new) - 1),
            torch.from_numpy(roles),
            torch.from_numpy(counts.data.astype(np.float32)),
        )


@dataclass(frozen=True)
class PackedPapers(_OnDevice):
    """A batch of papers (or manuscripts), each a list of sentences, each a list of tokens.

    :param tokens: (N,) token ids, sentence after sentence, sentences ascending by length.
    :param sentences: the sentences as rows of tokens.
    :param sentence_order: (S,) place among the packed sentences of each sentence, the sentences
        taken paper after paper, papers ascending by number of sentences.
    :param papers: the papers as rows of sentences.
    :param paper_order: (B,) place among the packed papers of each paper in the caller's order.
    :param roles: (S,) what each sentence is read as, paper after paper, see
        :mod:`mpbert.model.sampling`.
    :param vectors: (S, E) of a pretrained encoder, paper after paper; None: there are none.
    :param upper: the same papers with those sentences alone that levels beside the bag read; None:
        there are no such levels.
    :param counts: of their tokens, for exact matches; None: these do not count.
    :param texts: (S,) stored text of each sentence, or its place in
        :class:`~mpbert.model.packed_states.PackedStates`, of which ``vectors`` are made later;
        None: they are there, or there are none.
    """

    tokens: Tensor
    sentences: Rows
    sentence_order: Tensor
    papers: Rows
    paper_order: Tensor
    roles: Tensor
    vectors: Tensor | None = None
    upper: "PackedPapers | None" = None
    counts: TokenCounts | None = None
    texts: Tensor | None = None

    def with_vectors(self, vectors: Tensor) -> "PackedPapers":
        """Return these papers with what the levels beside the bag read.

        :param vectors: (M, E) of the distinct sentences of a batch.
        """
        own = vectors.index_select(0, self.upper.texts)
        return replace(self, upper=replace(self.upper, vectors=own))


@dataclass(frozen=True)
class MaskedSentences(_OnDevice):
    """The sentences to predict (Zhang et al., ACL 2019, Sec. 3.2).

    :param document_rows: (M,) row of each among the document encoder's sentence vectors.
    :param inputs: (N,) decoder input: end-of-sequence, then the sentence without its last token.
    :param targets: (N,) the sentence, its separator replaced by end-of-sequence.
    :param sentences: the masked sentences as rows of tokens.
    """

    document_rows: Tensor
    inputs: Tensor
    targets: Tensor
    sentences: Rows


def inverse(order: np.ndarray) -> np.ndarray:
    """Return the permutation that undoes ``order``."""
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return back


def document_rows(sentences_per_paper: np.ndarray) -> np.ndarray:
    """Return (S,) the place among sentences packed by paper of each in the caller's order."""
    return inverse(_by_paper_length(sentences_per_paper)[1])


def _by_paper_length(sentences_per_paper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (B,) papers ascending by length, and (S,) their sentences in that order."""
    order = np.argsort(sentences_per_paper, kind="stable")
    first = offsets_of(sentences_per_paper)[:-1]
    return order, ranges(first[order], sentences_per_paper[order])


def pack(
    tokens: np.ndarray,
    lengths: np.ndarray,
    sentences_per_paper: np.ndarray,
    roles: np.ndarray | None = None,
    vectors: np.ndarray | None = None,
    texts: np.ndarray | None = None,
) -> PackedPapers:
    """Lay out a batch.

    :param tokens: (N,) token ids of all sentences of all papers, in the caller's order.
    :param lengths: (S,) tokens of each sentence, at least 1.
    :param sentences_per_paper: (B,) sentences of each paper, at least 1; may be 0 in ``upper``.
    :param roles: (S,) of the sentences; None: all alike.
    :param vectors: (S, E) of a pretrained encoder; ``texts`` (S,) stored texts, whose vectors are
        made later; None: there are none.
    """
    if roles is None:
        roles = np.zeros(len(lengths), dtype=np.int64)
    paper_order, by_paper = _by_paper_length(sentences_per_paper)
    by_length = np.argsort(lengths[by_paper], kind="stable")
    sentences = by_paper[by_length]  # packed place -> the caller's sentence
    token_order = ranges(offsets_of(lengths)[:-1][sentences], lengths[sentences])
    return PackedPapers(
        tokens=torch.from_numpy(tokens[token_order].astype(np.int64)),
        sentences=Rows.of(lengths[sentences]),
        sentence_order=torch.from_numpy(inverse(by_length)),
        papers=Rows.of(sentences_per_paper[paper_order]),
        paper_order=torch.from_numpy(inverse(paper_order)),
        roles=torch.from_numpy(roles[by_paper].astype(np.int64)),
        vectors=None if vectors is None else torch.from_numpy(vectors[by_paper]),
        texts=None if texts is None else torch.from_numpy(texts[by_paper].astype(np.int64)),
    )


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
    sentences = masked[np.argsort(lengths[masked], kind="stable")]
    sizes = lengths[sentences]
    targets = tokens[ranges(offsets_of(lengths)[:-1][sentences], sizes)].astype(np.int64)
    targets[np.cumsum(sizes) - 1] = end_token
    inputs = np.roll(targets, 1)  # the last target of a sentence is the first input of the next
    return MaskedSentences(
        document_rows=torch.from_numpy(document_rows(sentences_per_paper)[sentences]),
        inputs=torch.from_numpy(inputs),
        targets=torch.from_numpy(targets),
        sentences=Rows.of(sizes),
    )
