"""The models of pretraining: predict masked sentences from the document around them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.model.blocks import DecoderBlock
from mpbert.model.config import ModelConfig
from mpbert.model.encoder import LevelEncoder, block_config
from mpbert.model.packing import MaskedSentences, PackedPapers
from mpbert.model.upper import document_level


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
            DecoderBlock(block_config(config)) for _ in range(config.decoder_layers)
        )

    def forward(self, papers: PackedPapers, masked: MaskedSentences) -> Tensor:
        """Return (N, V) logits of the masked sentences' tokens; output weights = embeddings."""
        context = self.encoder(papers).index_select(0, masked.document_rows)  # (M, D)
        x = self.encoder.bag.token_states(masked.inputs, masked.sentences)  # (N, D)
        for block in self.decoder_blocks:
            x = block(x, context, masked.sentences)
        return F.linear(x, self.encoder.bag.embedding.weight)


class MaskedVectorModel(nn.Module):
    """A document level over sentence vectors that stay as they are, and are predicted themselves.

    Ours, after HIBERT: what is masked is the vector of a sentence, and what is predicted is which
    sentence of the batch it was.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        dim = config.upper.pretrained_dim
        self.documents = document_level(config, dim)
        self.mask = nn.Parameter(torch.zeros(dim))
        self.guess = nn.Linear(dim, dim)

    def forward(self, papers: PackedPapers, hidden: Tensor, masked: Tensor) -> Tensor:
        """Return (M, E) guesses at the vectors of the masked sentences.

        :param papers: with vectors (S, E).
        :param hidden: rows of them that are not seen; ``masked`` (M,) rows to guess.
        """
        unseen = self.mask.to(papers.vectors.dtype).expand(len(hidden), -1)
        x = papers.vectors.index_copy(0, hidden, unseen)
        no_role = torch.zeros_like(papers.roles)
        states = x + self.documents(x, papers.papers, no_role)
        return self.guess(states.index_select(0, masked))
