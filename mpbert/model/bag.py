"""Level 0 of the model: a sentence as a bag of weighted tokens.

Symbols: N tokens, S sentences, B papers, D dim, V vocabulary. The levels above read the bag's token
states; where there is no level above, a text is a sum of its weighted token vectors and nothing
else. Weights of tokens start from those of SIF (Arora, Liang and Ma, ICLR 2017).
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.model.blocks import sinusoids
from mpbert.model.config import MOST_PLACES, STEP, BagConfig
from mpbert.model.dropout import Dropout
from mpbert.model.packing import PackedPapers, Rows
from mpbert.model.pooling import mean_pool, sum_pool

_RARE = 1e-3  # a of SIF
_SMALLEST = 1e-9  # of the weights of a sentence whose tokens are all left out


def weights_of(log_weights: nn.Embedding, ids: Tensor) -> Tensor:
    """Return (N, 1) positive weights of tokens or roles from a table of their logarithms."""
    return (STEP * log_weights(ids).float()).exp()


class TokenBag(nn.Module):
    """Embeddings and weights of tokens, and sums of them.

    :param dropout: of the values of token states; in sums, of whole tokens.
    """

    def __init__(self, config: BagConfig, vocab_size: int, dim: int, dropout: float) -> None:
        super().__init__()
        self.config, self.dim = config, dim
        self.embedding = nn.Embedding(vocab_size, dim)
        nn.init.normal_(self.embedding.weight, std=dim**-0.5)
        if config.token_weights:
            self.log_weights = nn.Embedding(vocab_size, 1)
            nn.init.zeros_(self.log_weights.weight)
        self.dropout = Dropout(dropout)
        self.register_buffer("places", sinusoids(MOST_PLACES, dim), False)

    def start_from_counts(self, counts: Tensor) -> None:
        """Start from the weights of SIF, a / (a + p): Arora, Liang and Ma (ICLR 2017), Sec. 3.

        :param counts: (V,) how often each token occurs; p is its share.
        """
        weights = _RARE / (_RARE + counts / counts.sum())
        self.log_weights.weight.data[:, 0] = weights.log() / STEP

    def token_states(self, tokens: Tensor, rows: Rows, places: bool = True) -> Tensor:
        """Return (N, D): scaled embeddings plus sinusoidal places, with dropout.

        :param places: whether they are added.
        """
        x = self.embedding(tokens) * math.sqrt(self.dim)
        return self.dropout(x + self.places[rows.place] if places else x)

    def pool(self, states: Tensor, tokens: Tensor, rows: Rows) -> Tensor:
        """Return (S, D): means or sums of token states (N, D), weighted as the bag's own are."""
        if self.config == BagConfig():
            return mean_pool(states, rows)
        return sum_pool(states * self._weights(tokens, rows, may_drop=False)[:, None], rows)

    def sum_sentences(self, tokens: Tensor, rows: Rows) -> Tensor:
        """Return (S, D) means or sums of the embeddings of packed sentences."""
        return self._sums(tokens, self._weights(tokens, rows, may_drop=True), rows.offsets[:-1])

    def sum_papers(self, papers: PackedPapers, sentence_weights: Tensor | None) -> Tensor:
        """Return (B, D) weighted sums of the vectors of :meth:`sum_sentences`, papers packed.

        No vector of a sentence is made: a paper is one sum of its tokens.

        :param sentence_weights: (S,) packed by paper; None: all 1.
        """
        own_weights = self._weights(papers.tokens, papers.sentences, may_drop=True)
        lengths = papers.sentences.offsets.diff().index_select(0, papers.sentence_order).long()
        ends = lengths.cumsum(0)  # (S,) of the tokens, paper after paper
        starts = papers.sentences.offsets[:-1].index_select(0, papers.sentence_order)
        order = torch.arange(len(own_weights), device=own_weights.device)
        order += (starts - (ends - lengths)).repeat_interleave(lengths)
        weights = own_weights.index_select(0, order)
        if sentence_weights is not None:
            weights = weights * sentence_weights.repeat_interleave(lengths)
        firsts = (ends - lengths).index_select(0, papers.papers.offsets[:-1])
        return self._sums(papers.tokens.index_select(0, order), weights, firsts)

    def _weights(self, tokens: Tensor, rows: Rows, may_drop: bool) -> Tensor:
        """Return (N,) weights of the tokens; for means, those of a sentence add up to 1.

        :param may_drop: in training, dropout leaves out whole tokens: Iyyer et al. (ACL 2015).
        """
        if self.config.token_weights:
            weights = weights_of(self.log_weights, tokens)  # (N, 1)
        else:
            weights = torch.ones(len(tokens), 1, device=tokens.device)
        if self.training and self.dropout.p and may_drop:
            weights = weights * (torch.rand_like(weights) >= self.dropout.p)
        if not self.config.sums:
            sums = sum_pool(weights, rows).clamp(min=_SMALLEST).index_select(0, rows.row)
            weights = weights / sums
        return weights[:, 0]

    def _sums(self, tokens: Tensor, weights: Tensor, firsts: Tensor) -> Tensor:
        """Return (M, D) weighted sums of embeddings, read once and never written token by token.

        Places are left out: their mean would say how long a sentence is.

        :param firsts: (M,) first token of each sum.
        """
        return math.sqrt(self.dim) * F.embedding_bag(
            tokens, self.embedding.weight, firsts.long(), mode="sum", per_sample_weights=weights
        )
