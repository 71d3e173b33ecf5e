"""The model of pretraining: predict masked sentences from the document around them."""

import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.model.blocks import DecoderBlock
from mpbert.model.config import ModelConfig
from mpbert.model.encoder import LevelEncoder, block_config
from mpbert.model.packing import MaskedSentences, PackedPapers


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
