"""The encoder: a bag of tokens, a sentence level and a document level upon it, either absent.

HIBERT (Zhang et al., ACL 2019) as MP-BERT4CR changes it (Zhang & Ma, WI-IAT 2021, Sec. 4.1.2):
tokens -> sentence level -> mean -> document level -> sum -> LayerNorm. Ours: the two levels beside
the bag, see :mod:`mpbert.model.upper`. Symbols: N tokens, S sentences, B papers, D dim.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.model.bag import TokenBag, weights_of
from mpbert.model.blocks import BlockConfig, EncoderBlock, sinusoids
from mpbert.model.config import CONCATENATED, MOST_PLACES, ROLES, STACKED, STEP, ModelConfig
from mpbert.model.dropout import Dropout
from mpbert.model.lexical import LexicalLevel
from mpbert.model.packing import PackedPapers
from mpbert.model.pooling import sum_pool
from mpbert.model.upper import UpperLevels

# logarithms, of ROLES, to begin with: about where training on ACL ended
_MANUSCRIPT_ROLES = (-2.9, -2.0, -1.3, 0.0)
_PAPER_ROLES = (-1.0, 0.0, 0.0, 0.0)
TOWERS = ("manuscript", "citation")
LEXICAL = "lexical."  # weights of exact matches, of both towers
UPPER = ("upper.", "log_gate")  # weights of a tower that it has with levels beside the bag alone


class SentenceLevel(nn.Module):
    """Blocks among the tokens of each sentence, then the bag's mean or sum of the token states."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        block = BlockConfig.of(config)
        self.blocks = nn.ModuleList(EncoderBlock(block) for _ in range(config.sentence_layers))

    def forward(self, bag: TokenBag, papers: PackedPapers) -> Tensor:
        """Return (S, D) vectors of packed sentences, each from its own tokens alone."""
        x = bag.token_states(papers.tokens, papers.sentences)  # (N, D)
        for block in self.blocks:
            x = block(x, papers.sentences)
        return bag.pool(x, papers.tokens, papers.sentences)


class DocumentLevel(nn.Module):
    """Blocks among the sentences of each paper, which know their place and, if told, their role."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        block = BlockConfig.of(config)
        self.blocks = nn.ModuleList(EncoderBlock(block) for _ in range(config.document_layers))
        self.roles = nn.Embedding(len(ROLES), config.dim) if config.sentence_roles else None
        if self.roles is not None:
            nn.init.zeros_(self.roles.weight)
        self.dropout = Dropout(config.dropout)
        self.register_buffer("places", sinusoids(MOST_PLACES, config.dim), False)

    def forward(self, sentences: Tensor, papers: PackedPapers) -> Tensor:
        """Map (S, D) sentence vectors, packed by paper, to (S, D) vectors that know their paper."""
        x = sentences + self.places[papers.papers.place]
        if self.roles is not None:
            x = x + self.roles(papers.roles)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, papers.papers)
        return x


class LevelEncoder(nn.Module):
    """The levels in their order; ``sentences`` and ``documents`` are None where they are absent."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.bag = TokenBag(config.bag, config.vocab_size, config.dim, config.dropout)
        stacked = config.upper.join == STACKED
        self.sentences = SentenceLevel(config) if stacked and config.sentence_layers else None
        self.documents = DocumentLevel(config) if stacked and config.document_layers else None
        self.dropout = Dropout(config.dropout)

    def forward(self, papers: PackedPapers) -> Tensor:
        """Return (S, D) sentence vectors in the context of their papers, packed by paper."""
        if self.sentences is None:
            x = self.bag.sum_sentences(papers.tokens, papers.sentences)
        else:
            x = self.sentences(self.bag, papers)
        x = x.index_select(0, papers.sentence_order)
        return self.dropout(x) if self.documents is None else self.documents(x, papers)

    def sum_papers(self, papers: PackedPapers, sentence_weights: Tensor | None) -> Tensor:
        """Return (B, D): Σ weight · sentence vector of each paper, papers packed.

        :param sentence_weights: (S,) packed by paper; None: all 1.
        """
        if self.sentences is None and self.documents is None:
            return self.bag.sum_papers(papers, sentence_weights)
        x = self(papers)
        if sentence_weights is not None:
            x = x * sentence_weights[:, None]
        return sum_pool(x, papers.papers)


class PaperEncoder(nn.Module):
    """One vector a paper or manuscript: LayerNorm of the sum of its sentence vectors.

    Levels beside the bag are added to that sum, or concatenated to its LayerNorm.

    :param role_weights: logarithms, of ``ROLES``, that the weights of sentences start from; there
        are weights only with ``sentence_roles``.
    """

    def __init__(self, config: ModelConfig, role_weights: tuple[float, ...] = _PAPER_ROLES) -> None:
        super().__init__()
        self.vector_dim, self.join = config.vector_dim, config.upper.join
        self.encoder = LevelEncoder(config)
        self.norm = nn.LayerNorm(config.dim)
        if config.sentence_roles:
            start = torch.tensor(role_weights)[:, None] / STEP
            self.log_role_weights = nn.Embedding.from_pretrained(start, freeze=False)
        else:
            self.log_role_weights = None
        self.upper = UpperLevels(config, role_weights) if self.join != STACKED else None
        if self.join == CONCATENATED:
            start = torch.tensor(math.log(config.upper.gate) / STEP)
            self.log_gate = nn.Parameter(start, requires_grad=not config.upper.losses_apart)

    def forward(self, papers: PackedPapers) -> Tensor:
        """Return (B, U) vectors in the caller's order, U = ``vector_dim``."""
        weights = None
        if self.log_role_weights is not None:
            weights = weights_of(self.log_role_weights, papers.roles)[:, 0]  # (S,)
        sums = self.encoder.sum_papers(papers, weights).index_select(0, papers.paper_order)
        if self.upper is None:
            return self.norm(sums)
        beside = self.upper(self.encoder.bag, papers.upper)
        if self.join == CONCATENATED:
            return concatenated(self.norm(sums), beside, (STEP * self.log_gate).exp())
        return self.norm(sums + beside)


def concatenated(bag: Tensor, beside: Tensor, gate: Tensor) -> Tensor:
    """Return (B, D + U): both of length one, the second times a weight, side by side.

    The cosine of two such vectors is a weighted mean of their cosines. All have the length that
    LayerNorm gives a vector of so many dimensions, since objectives of distances need it.

    :param bag: (B, D); ``beside`` (B, U); ``gate`` the weight, positive.
    """
    both = torch.cat([F.normalize(bag.float()), gate * F.normalize(beside)], dim=1)
    return both * (math.sqrt(both.shape[1]) / (1 + gate.square()).sqrt())


class TwoTower(nn.Module):
    """Manuscript encoder and citation encoder: Zhang & Ma (WI-IAT 2021), Sec. 4.1.2.

    Target, positive and negative citations share the citation encoder.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.manuscript = PaperEncoder(config, _MANUSCRIPT_ROLES)
        self.citation = PaperEncoder(config)
        if config.shared_tokens:
            self.manuscript.encoder.bag.embedding = self.citation.encoder.bag.embedding
        self.lexical = None
        if config.lexical.exact_matches:
            self.lexical = LexicalLevel(config.vocab_size, config.lexical)
        if config.upper.join != STACKED:  # the same start; what roles weigh is each tower's own
            same = self.citation.upper.state_dict()
            own = {k: v for k, v in self.manuscript.upper.state_dict().items() if "log_role" in k}
            self.manuscript.upper.load_state_dict({**same, **own})

    def weigh_tokens(self, counts: Tensor) -> None:
        """Start the token weights of both towers from the counts (V,) of the training texts."""
        for tower in (self.manuscript, self.citation):
            tower.encoder.bag.start_from_counts(counts)
