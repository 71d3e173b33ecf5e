"""Manuscript encoder and citation encoder as a fairseq model."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.models import BaseFairseqModel, register_model
from torch import Tensor

from mpbert.foundation.manifest import check_inputs
from mpbert.model.directory import check_same_tokenizer, load_two_tower
from mpbert.model.encoder import HierarchicalConfig, TwoTower
from mpbert.model.packing import PackedPapers


@dataclass
class TwoTowerConfig(FairseqDataclass):
    """Where the encoders start; sizes are used only without ``--init``."""

    init: str = field(
        default="", metadata={"help": "pretrained encoder directory; empty: start at random"}
    )
    dim: int = field(default=768, metadata={"help": "size of all states, without --init"})
    ffn_dim: int = field(default=3072, metadata={"help": "inner size, without --init"})
    num_heads: int = field(default=12, metadata={"help": "attention heads, without --init"})
    sentence_layers: int = field(default=6, metadata={"help": "blocks, without --init"})
    document_layers: int = field(default=6, metadata={"help": "blocks, without --init"})
    token_weights: bool = field(
        default=False, metadata={"help": "tokens have weights in the vector of their sentence"}
    )
    sentence_sums: bool = field(
        default=False, metadata={"help": "sentence vectors are sums of tokens, not means"}
    )
    sentence_roles: bool = field(
        default=False, metadata={"help": "tell abstract, body, citing sentence apart"}
    )
    shared_tokens: bool = field(
        default=False, metadata={"help": "both encoders have one table of token embeddings"}
    )
    dropout: float = field(default=0.1, metadata={"help": "of embeddings and residual branches"})
    attention_dropout: float = field(default=0.1, metadata={"help": "without --init"})
    activation_dropout: float = field(default=0.1, metadata={"help": "without --init"})
    autocast_bf16: bool = field(
        default=False, metadata={"help": "matrix products in bfloat16, weights in float32"}
    )


@register_model("mpbert_two_tower", dataclass=TwoTowerConfig)
class FairseqTwoTower(BaseFairseqModel):
    """Wraps :class:`TwoTower`; adds nothing but autocast."""

    def __init__(self, model: TwoTower, autocast_bf16: bool) -> None:
        super().__init__()
        self.model, self.autocast_bf16 = model, autocast_bf16

    @classmethod
    def build_model(cls, cfg: TwoTowerConfig, task: Any) -> "FairseqTwoTower":
        """Start from ``--init``, or at random with the given sizes."""
        if cfg.init:
            check_inputs([Path(cfg.init)])
            check_same_tokenizer(Path(cfg.init), task.corpus.path)
            names = ("token_weights", "sentence_sums", "sentence_roles", "shared_tokens")
            extra = {name: getattr(cfg, name) for name in names}
            model = load_two_tower(Path(cfg.init), dropout=cfg.dropout, **extra)
        else:
            model = TwoTower(
                HierarchicalConfig(
                    vocab_size=task.corpus.vocab_size,
                    dim=cfg.dim,
                    ffn_dim=cfg.ffn_dim,
                    num_heads=cfg.num_heads,
                    sentence_layers=cfg.sentence_layers,
                    document_layers=cfg.document_layers,
                    decoder_layers=0,
                    dropout=cfg.dropout,
                    attention_dropout=cfg.attention_dropout,
                    activation_dropout=cfg.activation_dropout,
                    token_weights=cfg.token_weights,
                    sentence_sums=cfg.sentence_sums,
                    sentence_roles=cfg.sentence_roles,
                    shared_tokens=cfg.shared_tokens,
                )
            )
        if cfg.token_weights:
            model.weigh_tokens(torch.from_numpy(task.corpus.token_counts()))
        return cls(model, cfg.autocast_bf16)

    def forward(self, manuscripts: PackedPapers, papers: PackedPapers) -> tuple[Tensor, Tensor]:
        """Return (B, D) manuscript vectors and (U, D) vectors of the batch's distinct papers."""
        device = self.model.citation.norm.weight.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self.autocast_bf16):
            return (
                self.model.manuscript(manuscripts.to(device)),
                self.model.citation(papers.to(device)),
            )

    def max_positions(self) -> None:
        """Return None: lengths are the corpus' and the task's business."""
        return
