"""The models of pretraining: predict masked sentences from the document around them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.model.bag import TokenBag
from mpbert.model.blocks import BlockConfig, DecoderBlock
from mpbert.model.config import ModelConfig
from mpbert.model.encoder import LevelEncoder
from mpbert.model.packing import MaskedSentences, PackedPapers, Rows
from mpbert.model.pooling import sum_pool
from mpbert.model.upper import document_level, sentence_level, sentences_of_tokens


class MaskedSentenceModel(nn.Module):
    """HIBERT's model of pretraining: Zhang et al. (ACL 2019), Sec. 3.2.

    A decoder writes each masked sentence word by word; the document level's vector of that sentence
    is all that it knows of the document.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = LevelEncoder(config)
        self.decoder_blocks = nn.ModuleList(
            DecoderBlock(BlockConfig.of(config)) for _ in range(config.decoder_layers)
        )

    def forward(self, papers: PackedPapers, masked: MaskedSentences) -> Tensor:
        """Return (N, V) logits of the masked sentences' tokens; output weights = embeddings."""
        context = self.encoder(papers).index_select(0, masked.document_rows)  # (M, D)
        x = self.encoder.bag.token_states(masked.inputs, masked.sentences)  # (N, D)
        for block in self.decoder_blocks:
            x = block(x, context, masked.sentences)
        return F.linear(x, self.encoder.bag.embedding.weight)


class MaskedVectorModel(nn.Module):
    """Guesses the vectors of masked sentences from the document level: ours, after HIBERT.

    What is predicted is which sentence of the batch it was. The vectors are those of a pretrained
    encoder, which stay as they are; or there is none, and those of bag and sentence level learn
    together with the document level.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        dim = config.upper.pretrained_dim or config.dim
        self.bag = self.sentences = None
        if not config.upper.pretrained_dim:
            self.bag = TokenBag(config.bag, config.vocab_size, config.dim, config.dropout)
            self.sentences = sentence_level(config)
        self.documents = document_level(config, dim)
        self.mask = nn.Parameter(torch.randn(dim) * 0.1 * dim**-0.5)
        self.guess = nn.Linear(dim, dim)
        nn.init.eye_(self.guess.weight)
        nn.init.zeros_(self.guess.bias)

    def forward(
        self, papers: PackedPapers, source: Tensor, hidden: Tensor, masked: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return (M, E) guesses at the vectors of the masked sentences, and (S, E) all vectors.

        :param papers: as they are, with vectors (S, E) if these are not made here.
        :param source: (S,) row of the sentence that stands in the place of each.
        :param hidden: rows that are not seen; ``masked`` (M,) rows to guess.
        """
        vectors = papers.vectors
        if self.bag is not None:
            vectors = torch.add(*sentences_of_tokens(self.bag, self.sentences, papers))
        x = vectors.index_select(0, source)
        unseen = self.mask + means_of_seen(x, papers.papers, hidden)
        x = x.index_copy(0, hidden, unseen.to(x.dtype))
        no_role = torch.zeros_like(papers.roles)
        states = x + self.documents(x, papers.papers, no_role)
        return self.guess(states.index_select(0, masked)), vectors


def means_of_seen(x: Tensor, rows: Rows, hidden: Tensor) -> Tensor:
    """Return (H, E) means of the sentences that are seen of the blocks of hidden ones, or zeros.

    A guess begins there: blocks that begin as the identity would have to learn to average first.

    :param x: (S, E), blocks packed; ``hidden`` (H,) rows of it.
    """
    is_seen = torch.ones(len(x), 1, device=x.device).index_fill(0, hidden, 0)
    means = sum_pool(x * is_seen, rows) / sum_pool(is_seen, rows).clamp(min=1)
    return means.index_select(0, rows.row[hidden])
