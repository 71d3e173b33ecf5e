"""Sentence and document level beside the bag: ours; the paper stacks them on the bag's tokens.

They read the sentences that are worth it (``contextual_roles``) and begin as the identity, so that
a bag that was trained alone keeps what it knows. Symbols: N tokens, S sentences, B papers, D dim of
the bag, E dim of sentence vectors (of a pretrained encoder, or D), U dim of what comes out.
"""

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from mpbert.model.bag import TokenBag, weights_of
from mpbert.model.blocks import BlockConfig, ZeroedBlock, sinusoids
from mpbert.model.config import CONCATENATED, MOST_PLACES, ROLES, STEP, ModelConfig
from mpbert.model.packing import PackedPapers, Rows
from mpbert.model.pooling import sum_pool

_AT_ONCE = 8192  # tokens whose states are held at once; for gradients they are made again


class ZeroedLevel(nn.Module):
    """Zeroed blocks among the elements of each row, which know their place and role."""

    def __init__(self, config: BlockConfig, num_layers: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(ZeroedBlock(config) for _ in range(num_layers))
        self.roles = nn.Embedding(len(ROLES), config.dim)
        nn.init.zeros_(self.roles.weight)
        self.register_buffer("places", sinusoids(MOST_PLACES, config.dim), False)

    def forward(self, x: Tensor, rows: Rows, roles: Tensor) -> Tensor:
        """Return (N, D): what the blocks add to ``x`` (N, D); before training zeros.

        :param roles: (N,) of the elements.
        """
        places = self.places[: rows.max_length, None] + self.roles.weight  # (T, R, D)
        place = rows.place * len(ROLES) + roles
        y = x
        for block in self.blocks:
            y = block(y, rows, places.flatten(0, 1), place)
        return y - x


class UpperLevels(nn.Module):
    """From the sentences of papers to one vector each, beside the bag's.

    :param role_weights: logarithms, of ``ROLES``, that the weights of sentences start from.
    """

    def __init__(self, config: ModelConfig, role_weights: tuple[float, ...]) -> None:
        super().__init__()
        self.pretrained = config.upper.pretrained_dim > 0
        self.whole = config.upper.join == CONCATENATED  # else what is added to the bag alone
        dim = config.upper.pretrained_dim or config.dim
        self.sentences = None if self.pretrained else sentence_level(config)
        self.documents = document_level(config, dim)
        out = config.upper.upper_dim if self.whole else config.dim
        self.map = nn.Linear(dim, out, bias=False) if self.whole or self.pretrained else None
        if self.whole:
            nn.init.eye_(self.map.weight) if dim == out else nn.init.orthogonal_(self.map.weight)
        elif self.map is not None:
            nn.init.zeros_(self.map.weight)
        start = torch.tensor(role_weights)[:, None] / STEP
        self.log_role_weights = nn.Embedding.from_pretrained(start, freeze=False)

    def forward(self, bag: TokenBag, papers: PackedPapers) -> Tensor:
        """Return (B, U) in the caller's order: Σ weight · sentence vector, mapped.

        :param papers: with the sentences alone that are read here.
        """
        if not len(papers.roles):  # such as papers of which nothing but a body is known
            dim = bag.dim if self.map is None else self.map.out_features
            return torch.zeros(len(papers.paper_order), dim, device=papers.roles.device)
        states = self.sentence_states(bag, papers)
        weights = weights_of(self.log_role_weights, papers.roles)  # (S, 1)
        sums = sum_pool(states * weights, papers.papers)
        vectors = sums if self.map is None else self.map(sums)
        return vectors.float().index_select(0, papers.paper_order)

    def sentence_states(self, bag: TokenBag, papers: PackedPapers) -> Tensor:
        """Return (S, E), papers packed: vectors of sentences, or what the levels add to them."""
        if self.pretrained:
            x = added = papers.vectors
        else:
            bags, branch = sentences_of_tokens(bag, self.sentences, papers)
            x = bags + branch
            added = x if self.whole else branch
        if self.documents is not None:
            added = added + self.documents(x, papers.papers, papers.roles)
        return added


def sentences_of_tokens(
    bag: TokenBag, level: ZeroedLevel | None, papers: PackedPapers
) -> tuple[Tensor, Tensor]:
    """Return twice (S, D), papers packed: vectors of sentences, and what a sentence level adds.

    :param level: blocks among the tokens of each sentence; None: there are none, and it adds zeros.
    """
    bags = bag.sum_sentences(papers.tokens, papers.sentences)
    branch = torch.zeros_like(bags)
    if level is not None:
        parts = papers.sentences.parts(_AT_ONCE)
        if len(parts) == 1:
            branch = _branch(bag, level, papers.tokens, papers.sentences)
        else:
            made = [
                checkpoint(_branch, bag, level, papers.tokens[part], rows, use_reentrant=False)
                for part, rows in parts
            ]
            branch = torch.cat(made)
    order = papers.sentence_order
    return bags.index_select(0, order), branch.index_select(0, order)


def _branch(bag: TokenBag, level: ZeroedLevel, tokens: Tensor, rows: Rows) -> Tensor:
    """Return (M, D): what a sentence level adds to the vectors of some sentences."""
    states = level(bag.token_states(tokens, rows, places=False), rows, torch.zeros_like(tokens))
    return bag.pool(states, tokens, rows)


def sentence_level(config: ModelConfig) -> ZeroedLevel | None:
    """Return blocks among the tokens of a sentence; None where the configuration has none."""
    return _level(config, config.dim, config.sentence_layers)


def document_level(config: ModelConfig, dim: int) -> ZeroedLevel | None:
    """Return blocks among the sentences of a paper; None where the configuration has none.

    :param dim: E, of the sentence vectors.
    """
    return _level(config, dim, config.document_layers)


def _level(config: ModelConfig, dim: int, num_layers: int) -> ZeroedLevel | None:
    if not num_layers:
        return None
    block = BlockConfig(
        dim=dim,
        ffn_dim=config.ffn_dim,
        num_heads=config.num_heads,
        dropout=config.dropout,
        attention_dropout=config.attention_dropout,
        activation_dropout=config.activation_dropout,
    )
    return ZeroedLevel(block, num_layers)
