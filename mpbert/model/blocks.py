"""Transformer blocks on packed rows (Vaswani et al., NIPS 2017).

``EncoderBlock`` is the paper's: post-norm, ReLU, Xavier as in Zhang et al. (ACL 2019), with the
details of its public code. ``ZeroedBlock`` is ours: before training it changes nothing. Rows of
equal length attend as one view (see ``packing``); all other operations see one flat (N, D) matrix.
"""

import math
from dataclasses import dataclass
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.model.config import ModelConfig
from mpbert.model.dropout import Dropout
from mpbert.model.packing import Rows
from mpbert.pretrained.attention import attend_at_once, scaled_attention, takes_all_at_once


@dataclass(frozen=True)
class BlockConfig:
    """Sizes of a transformer block.

    :param dim: D, size of all states; a multiple of ``num_heads``.
    :param ffn_dim: inner size of the feed-forward network.
    :param dropout: of embeddings and of each residual branch.
    :param attention_dropout: of attention weights; 0 lets the fused kernels run on a CPU.
    :param activation_dropout: after ReLU.
    """

    dim: int
    ffn_dim: int
    num_heads: int
    dropout: float
    attention_dropout: float
    activation_dropout: float

    @classmethod
    def of(cls, config: ModelConfig, dim: int | None = None) -> Self:
        """Return the part of the sizes of a model that every block needs.

        :param dim: of the states; None: that of the model.
        """
        return cls(
            dim=config.dim if dim is None else dim,
            ffn_dim=config.ffn_dim,
            num_heads=config.num_heads,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            activation_dropout=config.activation_dropout,
        )


def sinusoids(num_places: int, dim: int) -> Tensor:
    """Return (num_places, dim) sinusoidal positions: Vaswani et al. (NIPS 2017), Sec. 3.5.

    Sines first, then cosines, frequencies from 1 to exactly 1/10000, as in HIBERT's code.
    """
    half = dim // 2
    frequency = torch.exp(torch.arange(half) * (-math.log(10000.0) / max(half - 1, 1)))
    angle = torch.arange(num_places)[:, None] * frequency[None, :]  # (num_places, half)
    table = torch.cat([angle.sin(), angle.cos()], dim=1)
    return F.pad(table, (0, dim - table.shape[1]))


def attend(qkv: Tensor, rows: Rows, dropout: float = 0.0, causal: bool = False) -> Tensor:
    """Return (N, D): what the elements of each row find among themselves, over all heads.

    :param qkv: (N, 3, H, D/H) queries, keys and values of packed elements.
    :param dropout: of attention weights.
    :param causal: whether an element sees those before it alone.
    """
    if takes_all_at_once(qkv) and dropout == 0.0:
        return attend_at_once(qkv, rows.offsets, rows.max_length, causal)
    return _attend_by_length(qkv, rows, dropout, causal)


def _attend_by_length(qkv: Tensor, rows: Rows, dropout: float, causal: bool) -> Tensor:
    """Return (N, D), by one call for each group of rows of equal length."""
    attended = []
    for view in rows.views(qkv):  # (M, T, 3, H, D/H)
        q, k, v = view.permute(2, 0, 3, 1, 4).contiguous()  # each (M, H, T, D/H), copied at once
        mixed = scaled_attention(q, k, v, dropout=dropout, causal=causal)
        attended.append(mixed.transpose(1, 2).flatten(2).flatten(0, 1))  # (M*T, D)
    return torch.cat(attended)


class RowAttention(nn.Module):
    """Multi-head attention among the elements of each row: Vaswani et al. (NIPS 2017), Sec. 3.2."""

    def __init__(self, config: BlockConfig, causal: bool = False) -> None:
        super().__init__()
        self.num_heads, self.causal = config.num_heads, causal
        self.dropout = config.attention_dropout
        self.qkv = nn.Linear(config.dim, 3 * config.dim)
        self.out = nn.Linear(config.dim, config.dim)
        for weight in (*self.qkv.weight.chunk(3), self.out.weight):
            nn.init.xavier_uniform_(weight.data)
        nn.init.zeros_(self.qkv.bias)
        nn.init.zeros_(self.out.bias)

    def forward(
        self, x: Tensor, rows: Rows, places: Tensor | None = None, place: Tensor | None = None
    ) -> Tensor:
        """Map (N, D) packed rows to (N, D).

        :param places: (P, D) what is added where queries and keys are made, and not for values;
            None: ``x`` holds it already.
        :param place: (N,) row of ``places`` of each element.
        """
        qkv = self.qkv(x)
        if places is not None:
            seen = F.linear(places, self.qkv.weight[: 2 * x.shape[1]])  # (P, 2 D)
            moved = qkv[:, : seen.shape[1]] + seen.index_select(0, place)
            qkv = torch.cat([moved, qkv[:, seen.shape[1] :]], dim=1)
        qkv = qkv.view(len(x), 3, self.num_heads, -1)  # (N, 3, H, D/H)
        dropout = self.dropout if self.training else 0.0
        return self.out(attend(qkv, rows, dropout, self.causal))


class FeedForward(nn.Module):
    """Two linear maps with ReLU between: Vaswani et al. (NIPS 2017), Sec. 3.3."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.inner = nn.Linear(config.dim, config.ffn_dim)
        self.outer = nn.Linear(config.ffn_dim, config.dim)
        self.dropout = Dropout(config.activation_dropout)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, D) to (N, D)."""
        return self.outer(self.dropout(F.relu(self.inner(x))))


class EncoderBlock(nn.Module):
    """Self-attention and feed-forward network, each followed by LayerNorm of the residual sum."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.attention = RowAttention(config)
        self.attention_norm = nn.LayerNorm(config.dim)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = nn.LayerNorm(config.dim)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, rows: Rows) -> Tensor:
        """Map (N, D) packed rows to (N, D)."""
        x = self.attention_norm(x + self.dropout(self.attention(x, rows)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class ZeroedBlock(nn.Module):
    """A block whose branches end in zeros before training, so that it begins as the identity.

    LayerNorm stands before each branch (Xiong et al., ICML 2020), the last map of each branch
    starts at zero (Zhang, Dauphin and Ma, ICLR 2019). Places are seen by queries and keys alone:
    in the residual stream they would drown the content once its elements are added up.
    """

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.dim)
        self.attention = RowAttention(config)
        self.feed_forward_norm = nn.LayerNorm(config.dim)
        self.feed_forward = FeedForward(config)
        self.dropout = Dropout(config.dropout)
        nn.init.zeros_(self.attention.out.weight)
        nn.init.zeros_(self.feed_forward.outer.weight)

    def forward(self, x: Tensor, rows: Rows, places: Tensor, place: Tensor) -> Tensor:
        """Map (N, D) packed rows to (N, D).

        :param places: (P, D); ``place`` (N,) row of it of each element.
        """
        x = x + self.dropout(self.attention(self.attention_norm(x), rows, places, place))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


class DecoderBlock(nn.Module):
    """Causal self-attention, the row's context vector added to every element, feed-forward network.

    HIBERT's decoder has no cross-attention: the document encoder's vector of the masked sentence
    enters the residual stream, with a LayerNorm of its own (three a block).
    """

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.attention = RowAttention(config, causal=True)
        self.attention_norm = nn.LayerNorm(config.dim)
        self.context_norm = nn.LayerNorm(config.dim)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = nn.LayerNorm(config.dim)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, context: Tensor, rows: Rows) -> Tensor:
        """Map (N, D) packed rows to (N, D).

        :param context: (M, D), one vector a row.
        """
        x = self.attention_norm(x + self.dropout(self.attention(x, rows)))
        x = self.context_norm(x + self.dropout(context).index_select(0, rows.row))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
