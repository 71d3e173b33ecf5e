"""The hierarchical transformer of HIBERT (Zhang et al., ACL 2019) as MP-BERT4CR changes it.

Tokens -> sentence encoder -> mean -> document encoder -> contextual sentence vectors. Pretraining
puts a decoder on top that predicts masked sentences; fine-tuning sums the sentence vectors and
normalises them (Zhang & Ma, WI-IAT 2021, Sec. 4.1.2). Symbols: N tokens, S sentences,
B papers, D dim.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.foundation.errors import ConfigError
from mpbert.model.blocks import BlockConfig, DecoderBlock, EncoderBlock, sinusoids
from mpbert.model.packing import MaskedSentences, PackedPapers, Rows
from mpbert.model.pooling import mean_pool, sum_pool
from mpbert.model.sampling import ROLES

_RARE = 1e-3  # a of SIF
_SMALLEST = 1e-9  # of the weights of a sentence whose tokens are all left out
_STEP = 5.0  # logarithms of weights are kept in this unit: Adam's steps are equal for all numbers
# logarithms, of ROLES, to begin with: about where training on ACL ended
_MANUSCRIPT_ROLES = (-2.9, -2.0, -1.3, 0.0)
_PAPER_ROLES = (-1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class HierarchicalConfig:
    """Sizes of the hierarchical transformer; Zhang & Ma (WI-IAT 2021), Table 2 where it says so.

    :param vocab_size: V, tokens of the tokenizer.
    :param max_tokens: longest sentence, its separator included.
    :param max_sentences: most sentences of a paper or manuscript.
    :param token_weights: sentence vectors are weighted means of their tokens, one weight a token;
        the paper has plain means.
    :param sentence_sums: sentence vectors are sums, not means, of (weighted) tokens: a sentence
        of many telling words counts for more. In the paper they are means.
    :param sentence_roles: title and abstract, body, citing sentence and its neighbours are told
        apart, by an added vector and a weight in the sum; the paper has neither.
    :param shared_tokens: both towers have one table of token embeddings; each its own in the paper.
    """

    vocab_size: int
    dim: int
    ffn_dim: int
    num_heads: int
    sentence_layers: int
    document_layers: int
    decoder_layers: int
    dropout: float
    attention_dropout: float
    activation_dropout: float
    max_tokens: int = 1024
    max_sentences: int = 1024
    token_weights: bool = False
    sentence_sums: bool = False
    sentence_roles: bool = False
    shared_tokens: bool = False

    def __post_init__(self) -> None:
        """Refuse sizes that no model has."""
        if min(self.vocab_size, self.dim, self.ffn_dim, self.num_heads) < 1:
            raise ConfigError(f"a size of the model is below 1: {self}")
        if self.dim % self.num_heads:
            raise ConfigError(
                f"dim {self.dim} is no multiple of {self.num_heads} heads; choose another --dim "
                f"or --num-heads"
            )

    @property
    def block(self) -> BlockConfig:
        """The part that every block needs."""
        return BlockConfig(
            self.dim,
            self.ffn_dim,
            self.num_heads,
            self.dropout,
            self.attention_dropout,
            self.activation_dropout,
        )


class HierarchicalEncoder(nn.Module):
    """Sentence encoder, mean pooling, document encoder."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.dim)
        nn.init.normal_(self.embedding.weight, std=config.dim**-0.5)
        self.sentence_blocks = nn.ModuleList(
            EncoderBlock(config.block) for _ in range(config.sentence_layers)
        )
        self.document_blocks = nn.ModuleList(
            EncoderBlock(config.block) for _ in range(config.document_layers)
        )
        self.dropout = nn.Dropout(config.dropout)
        if config.token_weights:
            self.log_weights = nn.Embedding(config.vocab_size, 1)
            nn.init.zeros_(self.log_weights.weight)
        if config.sentence_roles and config.document_layers:
            self.roles = nn.Embedding(len(ROLES), config.dim)
            nn.init.zeros_(self.roles.weight)
        self.register_buffer("token_places", sinusoids(config.max_tokens, config.dim), False)
        self.register_buffer("sentence_places", sinusoids(config.max_sentences, config.dim), False)

    @property
    def is_static(self) -> bool:
        """Whether no vector of a token or sentence depends on another."""
        return not self.sentence_blocks and not self.document_blocks

    def embed_tokens(self, tokens: Tensor, rows: Rows) -> Tensor:
        """Return (N, D): scaled embeddings plus sinusoidal places, with dropout."""
        x = self.embedding(tokens) * math.sqrt(self.config.dim)
        return self.dropout(x + self.token_places[rows.place])

    def encode_sentences(self, tokens: Tensor, rows: Rows) -> Tensor:
        """Return (S, D) vectors of packed sentences, each from its own tokens alone."""
        if not self.sentence_blocks:
            return self._sums_of_tokens(tokens, self._weights(tokens, rows), rows.offsets[:-1])
        is_weighted = self.config.token_weights or self.config.sentence_sums
        weights = self._weights(tokens, rows) if is_weighted else None
        x = self.embed_tokens(tokens, rows)
        for block in self.sentence_blocks:
            x = block(x, rows)
        return mean_pool(x, rows) if weights is None else sum_pool(x * weights[:, None], rows)

    def sum_static(self, papers: PackedPapers, sentence_weights: Tensor | None) -> Tensor:
        """Return (B, D) weighted sums of static sentence vectors, papers packed.

        The same as :meth:`forward` and a sum, without a vector per sentence: with no block
        between, a paper is one sum of its tokens.

        :param sentence_weights: (S,) packed by paper; None: all 1.
        """
        own_weights = self._weights(papers.tokens, papers.sentences)
        lengths = papers.sentences.offsets.diff().index_select(0, papers.sentence_order).long()
        ends = lengths.cumsum(0)  # (S,) of the tokens, paper after paper
        starts = papers.sentences.offsets[:-1].index_select(0, papers.sentence_order)
        order = torch.arange(len(own_weights), device=own_weights.device)
        order += (starts - (ends - lengths)).repeat_interleave(lengths)
        weights = own_weights.index_select(0, order)
        if sentence_weights is not None:
            weights = weights * sentence_weights.repeat_interleave(lengths)
        firsts = (ends - lengths).index_select(0, papers.papers.offsets[:-1])
        return self._sums_of_tokens(papers.tokens.index_select(0, order), weights, firsts)

    def _weights(self, tokens: Tensor, rows: Rows) -> Tensor:
        """Return (N,) weights of the tokens; for means, those of a sentence add up to 1.

        Without a block between, dropout leaves out whole tokens: Iyyer et al. (ACL 2015).
        """
        if self.config.token_weights:
            weights = (_STEP * self.log_weights(tokens).float()).exp()  # (N, 1)
        else:
            weights = torch.ones(len(tokens), 1, device=tokens.device)
        if self.training and self.config.dropout and not self.sentence_blocks:
            weights = weights * (torch.rand_like(weights) >= self.config.dropout)
        if not self.config.sentence_sums:
            sums = sum_pool(weights, rows).clamp(min=_SMALLEST).index_select(0, rows.row)
            weights = weights / sums
        return weights[:, 0]

    def _sums_of_tokens(self, tokens: Tensor, weights: Tensor, firsts: Tensor) -> Tensor:
        """Return (M, D) weighted sums of embeddings, read once and never written token by token.

        Places are left out: their mean would say how long a sentence is.

        :param firsts: (M,) first token of each sum.
        """
        return math.sqrt(self.config.dim) * F.embedding_bag(
            tokens,
            self.embedding.weight,
            firsts.long(),
            mode="sum",
            per_sample_weights=weights,
        )

    def forward(self, papers: PackedPapers) -> Tensor:
        """Return (S, D) sentence vectors in the context of their papers, packed by paper."""
        x = self.encode_sentences(papers.tokens, papers.sentences)
        x = x.index_select(0, papers.sentence_order)
        if self.document_blocks:
            x = x + self.sentence_places[papers.papers.place]
            if self.config.sentence_roles:
                x = x + self.roles(papers.roles)
        x = self.dropout(x)
        for block in self.document_blocks:
            x = block(x, papers.papers)
        return x


class PaperEncoder(nn.Module):
    """One vector a paper or manuscript: LayerNorm of the sum of its sentence vectors."""

    def __init__(
        self, config: HierarchicalConfig, role_weights: tuple[float, ...] = _PAPER_ROLES
    ) -> None:
        super().__init__()
        self.encoder = HierarchicalEncoder(config)
        self.norm = nn.LayerNorm(config.dim)
        if config.sentence_roles:
            self.log_weights = nn.Embedding.from_pretrained(
                torch.tensor(role_weights)[:, None] / _STEP, freeze=False
            )

    def forward(self, papers: PackedPapers) -> Tensor:
        """Return (B, D) vectors in the caller's order."""
        weights = None
        if self.encoder.config.sentence_roles:
            weights = (_STEP * self.log_weights(papers.roles).float()).exp()  # (S, 1)
        if self.encoder.is_static:
            vectors = self.encoder.sum_static(papers, None if weights is None else weights[:, 0])
        else:
            sentences = self.encoder(papers)
            sentences = sentences if weights is None else sentences * weights
            vectors = sum_pool(sentences, papers.papers)
        return self.norm(vectors).index_select(0, papers.paper_order)


class TwoTower(nn.Module):
    """Manuscript encoder and citation encoder: Zhang & Ma (WI-IAT 2021), Sec. 4.1.2.

    Target, positive and negative citations share the citation encoder.
    """

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        self.config = config
        self.manuscript = PaperEncoder(config, _MANUSCRIPT_ROLES)
        self.citation = PaperEncoder(config)
        if config.shared_tokens:
            self.manuscript.encoder.embedding = self.citation.encoder.embedding

    def weigh_tokens(self, counts: Tensor) -> None:
        """Start from the weights of SIF, a / (a + p): Arora, Liang and Ma (ICLR 2017).

        :param counts: (V,) how often each token occurs; p is its share.
        """
        weights = _RARE / (_RARE + counts / counts.sum())
        for tower in (self.manuscript, self.citation):
            tower.encoder.log_weights.weight.data[:, 0] = weights.log() / _STEP


class MaskedSentenceModel(nn.Module):
    """HIBERT: predict masked sentences, word by word, from the document around them."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = HierarchicalEncoder(config)
        self.decoder_blocks = nn.ModuleList(
            DecoderBlock(config.block) for _ in range(config.decoder_layers)
        )

    def forward(self, papers: PackedPapers, masked: MaskedSentences) -> Tensor:
        """Return (N, V) logits of the masked sentences' tokens; output weights = embeddings."""
        context = self.encoder(papers).index_select(0, masked.document_rows)  # (M, D)
        x = self.encoder.embed_tokens(masked.inputs, masked.sentences)
        for block in self.decoder_blocks:
            x = block(x, context, masked.sentences)
        return F.linear(x, self.encoder.embedding.weight)
