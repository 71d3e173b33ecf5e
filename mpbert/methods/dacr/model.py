"""The network of DACR: self-attention over words and known citations, additive attention over both.

Zhang & Ma (COLING 2020); see :mod:`mpbert.methods.dacr.embedder` for what is known of it.

Symbols: x an input, h what self-attention makes of it, u a query vector; B contexts, E elements of
all of them (words, or known citations), D dimensions of a vector, K noise papers.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.methods.ragged_attention import Elements, attended


class ResidualSelfAttention(nn.Module):
    """Scaled dot-product attention of several heads, Vaswani et al. (NIPS 2017), Sec. 3.2.2.

        h = x + concat_i softmax(Q_i K_iᵀ / √d) V_i · O

    Starts as the identity: O is zero.
    """

    def __init__(self, dim: int, heads: int, generator: torch.Generator) -> None:
        super().__init__()
        self.heads = heads
        self.projections = nn.Parameter(_xavier((3 * dim, dim), generator))
        self.output = nn.Parameter(torch.zeros(dim, dim))

    def forward(self, vectors: Tensor, elements: Elements) -> Tensor:
        """Return (E, D); the elements of a context attend to one another alone.

        :param vectors: (U, D), of the distinct elements: each is projected once.
        """
        x = F.embedding(elements.places, vectors)  # (E, D)
        projected = F.embedding(elements.places, vectors @ self.projections.T)
        found = attended(projected.unflatten(1, (3, self.heads, -1)), elements)
        return x + found @ self.output.T


class AdditiveAttention(nn.Module):
    """Weights of single elements, Bahdanau et al. (ICLR 2015), with one learnt query.

        a = v · tanh(W h + b)

    Starts with equal weights: v is zero.
    """

    def __init__(self, dim: int, query_dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self.projection = nn.Parameter(_xavier((query_dim, dim), generator))
        self.bias = nn.Parameter(torch.zeros(query_dim))
        self.query = nn.Parameter(torch.zeros(query_dim))

    def forward(self, h: Tensor, elements: Elements, size: int) -> tuple[Tensor, Tensor]:
        """Return (B, D) weighted means and (B,) logarithms of their sums of exp a.

        A context without elements has a zero vector and a weight of almost nothing.
        """
        scores = torch.tanh(F.linear(h, self.projection, self.bias)) @ self.query  # (E,)
        means, weights = [h.new_empty(0, h.shape[1])], [scores.new_empty(0)]
        for vectors, group in zip(elements.views(h), elements.views(scores), strict=True):
            means.append((group.softmax(dim=1).unsqueeze(1) @ vectors).squeeze(1))
            weights.append(group.logsumexp(dim=1))
        mean, weight = h.new_zeros(size, h.shape[1]), h.new_full((size,), -1e4)
        mean = mean.index_copy(0, elements.order, torch.cat(means))
        weight = weight.index_copy(0, elements.order, torch.cat(weights))
        return mean, weight


class DualAttention(nn.Module):
    """From words, section and known citations of a context to its query vector.

    With neither attention trained it is the mean of all inputs, as in DocCit2Vec.

    :param words: (V, D) IN vectors of the words, then those of the kinds of section.
    :param citations: (N, D) IN vectors of the papers, as known citations.
    :param targets: (N, D) OUT vectors of the papers, as what is to be recommended.
    """

    def __init__(
        self,
        words: np.ndarray,
        citations: np.ndarray,
        targets: np.ndarray,
        heads: int,
        query_dim: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        dim = targets.shape[1]
        self.words = nn.Parameter(torch.tensor(words))
        self.citations = nn.Parameter(torch.tensor(citations))
        self.targets = nn.Parameter(torch.tensor(targets))
        self.word_attention = ResidualSelfAttention(dim, heads, generator)
        self.citation_attention = ResidualSelfAttention(dim, heads, generator)
        self.pooling = AdditiveAttention(dim, query_dim, generator)

    def forward(self, words: Elements, known: Elements, size: int) -> Tensor:
        """Return (B, D) query vectors; zero where a context has no input at all.

        :param words: words and section of each context.
        :param known: known citations of its manuscript.
        :param size: number of contexts, B.
        """
        means, weights = [], []
        for elements, matrix, attention in (
            (words, self.words, self.word_attention),
            (known, self.citations, self.citation_attention),
        ):
            h = attention(F.embedding(elements.items, matrix), elements)  # (E, D)
            mean, weight = self.pooling(h, elements, size)
            means.append(mean)
            weights.append(weight)
        shares = torch.stack(weights).softmax(dim=0)  # one softmax over words and citations
        return (shares.unsqueeze(-1) * torch.stack(means)).sum(dim=0)


def negative_sampling_loss(
    queries: Tensor, targets: Tensor, noise: Tensor, weights: Tensor
) -> Tensor:
    """Mikolov et al. (NIPS 2013), Eq. 4, negated; the noise is shared by a batch.

        loss = -log σ(t·u) - Σ_k w_k log σ(-n_k·u)

    :param queries: (B, D), one for each pair of a context and a paper it cites.
    :param targets: (B, D), OUT vectors of the cited papers.
    :param noise: (K, D), OUT vectors of papers of the noise distribution.
    :param weights: (B, K), how often each was sampled; 0 where the context cites it.
    :returns: (B,), in nats.
    """
    observed = (queries * targets).sum(dim=-1)
    sampled = F.softplus(queries @ noise.T)  # (B, K)
    return F.softplus(-observed) + (weights * sampled).sum(dim=-1)


def new_generator(rng: np.random.Generator) -> torch.Generator:
    """Return a generator of torch that is seeded by one of numpy."""
    return torch.Generator().manual_seed(int(rng.integers(2**63)))


def _xavier(shape: tuple[int, int], generator: torch.Generator) -> Tensor:
    return nn.init.xavier_uniform_(torch.empty(shape), generator=generator)
