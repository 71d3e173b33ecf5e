"""What SBERT learns from pairs and triplets (SBERT + SubRef, ICPR 2020, Sec. IV-B and IV-C).

The loop, its schedule and its checkpoint are those of :mod:`mpbert.methods.fine_tuning`.
"""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.sbert_subref.pairs import Positives
from mpbert.pretrained.encoder import PretrainedEncoder

Sampler = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""Numbers of positives -> rows of a negative for each."""


def siamese_loss(
    anchors: Tensor, positives: Tensor, negatives: Tensor, distances: Tensor, decay: float
) -> Tensor:
    """Return the mean squared error of the cosines of 2B pairs (Sec. IV-B1, IV-C2 and IV-C3).

        (cos(a, p) - α^(d-1))²  for a positive at distance d,  cos(a, n)²  for a negative

    :param anchors: (B, D); ``positives`` (B, D); ``negatives`` (B, D); ``distances`` (B,) from 1.
    :param decay: α.
    """
    of_positives = F.cosine_similarity(anchors, positives) - decay ** (distances - 1)
    of_negatives = F.cosine_similarity(anchors, negatives)
    return torch.cat([of_positives, of_negatives]).square().mean()


def triplet_loss(anchors: Tensor, positives: Tensor, negatives: Tensor, margin: float) -> Tensor:
    """Return the mean of max(cos(a, n) - cos(a, p) + margin, 0) (Eq. 7).

    :param anchors: (B, D); ``positives`` (B, D); ``negatives`` (B, D).
    """
    closeness = F.cosine_similarity(anchors, positives)
    return F.relu(F.cosine_similarity(anchors, negatives) - closeness + margin).mean()


class PairObjective:
    """Positives, each beside a negative of the same anchor; every text of a batch is read once.

    :param texts: tokens of papers and contexts by number of anchor.
    :param sample: returns a negative for each positive.
    :param kind: ``siamese``, with a ``decay``, or ``triplet``, with a ``margin``.
    """

    def __init__(
        self,
        encoder: PretrainedEncoder,
        texts: Ragged,
        positives: Positives,
        sample: Sampler,
        kind: str,
        decay: float,
        margin: float,
    ) -> None:
        self._encoder, self._texts = encoder, texts
        self._positives, self._sample = positives, sample
        self._kind, self._decay, self._margin = kind, decay, margin
        self.examples = np.arange(len(positives))

    def loss(self, examples: np.ndarray, rng: np.random.Generator) -> Tensor:
        """Return the mean loss of these positives and of a negative for each."""
        pairs = self._positives.take(examples)
        numbers = np.concatenate([pairs.anchors, pairs.papers, self._sample(examples, rng)])
        once, back = np.unique(numbers, return_inverse=True)
        vectors = self._encoder(self._texts.take(once))  # (at most 3 B, D)
        back = torch.from_numpy(back).to(vectors.device)
        triples = vectors[back].chunk(3)
        if self._kind == "triplet":
            return triplet_loss(*triples, self._margin)
        distances = torch.from_numpy(pairs.distances).to(vectors)
        return siamese_loss(*triples, distances, self._decay)

    def backward(self, examples: np.ndarray, rng: np.random.Generator) -> float:
        """Add the gradient of a batch; return its loss."""
        loss = self.loss(examples, rng)
        loss.backward()
        return loss.item()
