"""The network of NNRank: Bhagavatula et al. (NAACL 2018), Eq. 3 and Fig. 2."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.foundation.progress import progress
from mpbert.methods.citeomatic.field_bags import BagBatch, take_bags
from mpbert.methods.citeomatic.nnrank_features import PairFeatures
from mpbert.methods.citeomatic.word_bags import MagnitudeDirection

_HIDDEN = 20
_BLOCK = 1 << 14  # pairs scored at once
_TEXTS = 1024  # texts embedded at once


class FeatureScorer(nn.Module):
    """Features of a pair, and  s = FeedForward(h), before the sigmoid.

        h = [cosine of each pair of fields; cosine of each kind of metadata;
             Σ_t w_t over the words t that each pair of fields shares; ln in-citations; score]

    :param magnitudes: (V,) of words at the start; ``weights`` (V,) of shared words.
    :param num_names: how many names each kind of metadata has.
    :param num_pairs: of fields that are compared.
    """

    def __init__(
        self,
        magnitudes: np.ndarray,
        weights: np.ndarray,
        num_names: Sequence[int],
        num_pairs: int,
        dim: int,
        metadata_dim: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.words = MagnitudeDirection(magnitudes, dim, generator)
        self.names = nn.ModuleList(
            MagnitudeDirection(np.ones(num), metadata_dim, generator) for num in num_names
        )
        self.shared = nn.Parameter(torch.from_numpy(weights.astype(np.float32))[:, None])
        sizes = 2 * num_pairs + len(num_names) + 2, _HIDDEN, _HIDDEN, 1
        layers = [nn.Linear(a, b) for a, b in pairwise(sizes)]
        for layer in layers:
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            nn.init.zeros_(layer.bias)
        nn.init.ones_(layers[-1].weight)
        self.network = nn.Sequential(layers[0], nn.ELU(), layers[1], nn.ELU(), layers[2])

    def forward(
        self, cosines: Sequence[Tensor], words: Tensor, offsets: Tensor, numbers: Tensor
    ) -> Tensor:
        """Return (P,) logarithms of the odds that queries cite papers.

        :param cosines: (P,) each, of fields, then of metadata.
        :param words: those that pairs share, with (F·P + 1,) ``offsets``: :class:`PairFeatures`.
        :param numbers: (P, 2).
        """
        sums = F.embedding_bag(words, self.shared, offsets, mode="sum", include_last_offset=True)
        sums = sums.view(-1, len(numbers))  # (F, P)
        h = torch.cat([torch.stack([*cosines, *sums], dim=1), numbers], dim=1)
        return self.network(h)[:, 0]


def field_vectors(words: MagnitudeDirection, bags: BagBatch, num_fields: int) -> Tensor:
    """Return (F, B, D) sums of Eq. 1, of length 1; zeros for an empty field."""
    return F.normalize(words(bags), dim=1).unflatten(0, (num_fields, -1))


def cosines_of(
    fields: Tensor, names: Sequence[Tensor], inputs: PairFeatures, texts: Tensor, papers: Tensor
) -> list[Tensor]:
    """Return (P,) cosines of each pair of fields and of each kind of metadata.

    :param fields: (F, B, D) vectors of texts; ``names`` (C, D) each, vectors of papers' names.
    :param texts: (2, P) places of query and candidate among the former.
    :param papers: (2, P) places of the query's paper and the candidate among the latter.
    """
    query, candidate = texts
    found = [
        (F.embedding(query, fields[mine]) * F.embedding(candidate, fields[theirs])).sum(dim=1)
        for mine, theirs in inputs.field_pairs
    ]
    return found + [F.embedding(papers, each).prod(dim=0).sum(dim=1) for each in names]


def shared_and_numbers(
    inputs: PairFeatures, query: np.ndarray, paper: np.ndarray, device: torch.device
) -> list[Tensor]:
    """Return what :class:`FeatureScorer` reads of pairs beside the cosines."""
    arrays = (*inputs.intersections(query, paper), inputs.numbers(query, paper))
    return [torch.from_numpy(array).to(device) for array in arrays]


@torch.no_grad()
def score_pairs(
    scorer: FeatureScorer, inputs: PairFeatures, query: np.ndarray, paper: np.ndarray
) -> np.ndarray:
    """Return (P,) logarithms of the odds that queries cite papers."""
    device = scorer.shared.device
    num_texts, num_fields = inputs.texts[0].shape[0], len(inputs.texts)
    fields = torch.cat(
        [
            field_vectors(scorer.words, take_bags(inputs.texts, rows), num_fields)
            for rows in np.split(np.arange(num_texts), np.arange(_TEXTS, num_texts, _TEXTS))
        ],
        dim=1,
    )
    everyone = np.arange(inputs.num_papers)
    names = [
        field_vectors(part, take_bags([matrix], everyone), 1)[0]
        for part, matrix in zip(scorer.names, inputs.names, strict=True)
    ]
    scores = np.empty(len(query))
    for start in progress(range(0, len(query), _BLOCK), "nnrank", "block"):
        block = slice(start, start + _BLOCK)
        q, p = query[block], paper[block]
        texts = torch.from_numpy(np.stack([inputs.num_papers + q, p])).to(device)
        papers = torch.from_numpy(np.stack([inputs.citing_rows[q], p])).to(device)
        cosines = cosines_of(fields, names, inputs, texts, papers)
        found = scorer(cosines, *shared_and_numbers(inputs, q, p, device))
        scores[block] = found.double().cpu().numpy()
    return scores
