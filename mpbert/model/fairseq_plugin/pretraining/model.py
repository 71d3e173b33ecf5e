"""The masked-sentence model as a fairseq model."""

from dataclasses import dataclass, field

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.models import BaseFairseqModel, register_model
from torch import Tensor

from mpbert.model.encoder import HierarchicalConfig, MaskedSentenceModel
from mpbert.model.packing import MaskedSentences, PackedPapers


@dataclass
class HibertConfig(FairseqDataclass):
    """Sizes of the model; defaults are the paper's (Zhang & Ma 2021, Table 2)."""

    dim: int = field(default=768, metadata={"help": "size of all states"})
    ffn_dim: int = field(default=3072, metadata={"help": "inner size of feed-forward networks"})
    num_heads: int = field(default=12, metadata={"help": "attention heads"})
    sentence_layers: int = field(default=6, metadata={"help": "blocks of the sentence encoder"})
    document_layers: int = field(default=6, metadata={"help": "blocks of the document encoder"})
    decoder_layers: int = field(default=6, metadata={"help": "blocks of the decoder"})
    dropout: float = field(default=0.1, metadata={"help": "of embeddings and residual branches"})
    attention_dropout: float = field(default=0.1, metadata={"help": "of attention weights"})
    activation_dropout: float = field(default=0.1, metadata={"help": "after ReLU"})
    autocast_bf16: bool = field(
        default=False, metadata={"help": "matrix products in bfloat16, weights in float32"}
    )


def hierarchical_config(cfg: HibertConfig, vocab_size: int) -> HierarchicalConfig:
    """Return the sizes without fairseq."""
    return HierarchicalConfig(
        vocab_size=vocab_size,
        dim=cfg.dim,
        ffn_dim=cfg.ffn_dim,
        num_heads=cfg.num_heads,
        sentence_layers=cfg.sentence_layers,
        document_layers=cfg.document_layers,
        decoder_layers=cfg.decoder_layers,
        dropout=cfg.dropout,
        attention_dropout=cfg.attention_dropout,
        activation_dropout=cfg.activation_dropout,
    )


@register_model("mpbert_hibert", dataclass=HibertConfig)
class FairseqMaskedSentenceModel(BaseFairseqModel):
    """Wraps :class:`MaskedSentenceModel`; adds nothing but autocast."""

    def __init__(self, model: MaskedSentenceModel, autocast_bf16: bool) -> None:
        super().__init__()
        self.model, self.autocast_bf16 = model, autocast_bf16

    @classmethod
    def build_model(cls, cfg: HibertConfig, task: "object") -> "FairseqMaskedSentenceModel":
        """Build for the vocabulary of the task's corpus."""
        config = hierarchical_config(cfg, task.corpus.vocab_size)
        return cls(MaskedSentenceModel(config), cfg.autocast_bf16)

    def forward(self, papers: PackedPapers, masked: MaskedSentences) -> Tensor:
        """Return (N, V) logits."""
        device = self.model.encoder.embedding.weight.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self.autocast_bf16):
            return self.model(papers.to(device), masked.to(device))

    def max_positions(self) -> None:
        """Return None: lengths are the corpus' and the task's business."""
        return
