"""Manuscript encoder and citation encoder as a fairseq model."""

import dataclasses
from pathlib import Path
from typing import Any

import torch
from fairseq.models import BaseFairseqModel, register_model
from torch import Tensor

from mpbert.foundation.manifest import check_inputs
from mpbert.model.config import FINETUNE, ModelConfig, TrainingConfig
from mpbert.model.configuration import knobs
from mpbert.model.directory import check_same_tokenizer, load_two_tower
from mpbert.model.encoder import TwoTower
from mpbert.model.fairseq_plugin.flags import section_of
from mpbert.model.fairseq_plugin.options import fairseq_dataclass
from mpbert.model.packing import PackedPapers

TwoTowerOptions = fairseq_dataclass(
    "TwoTowerOptions",
    [*knobs(ModelConfig, FINETUNE), *knobs(TrainingConfig, FINETUNE, "autocast_bf16")],
    init="",
)


@register_model("mpbert_two_tower", dataclass=TwoTowerOptions)
class FairseqTwoTower(BaseFairseqModel):
    """Wraps :class:`TwoTower`; adds nothing but autocast."""

    def __init__(self, model: TwoTower, autocast_bf16: bool) -> None:
        super().__init__()
        self.model, self.autocast_bf16 = model, autocast_bf16

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "FairseqTwoTower":
        """Start from the encoder ``--init``, or at random with the given sizes.

        With ``--init`` the sizes are those of that encoder; dropout, the bag, roles and the shared
        table are as given.
        """
        config = section_of(ModelConfig, cfg, FINETUNE)
        if cfg.init:
            check_inputs([Path(cfg.init)])
            check_same_tokenizer(Path(cfg.init), task.corpus.path)
            names = ("dropout", "bag", "sentence_roles", "shared_tokens")
            given = {name: getattr(config, name) for name in names}
            model = load_two_tower(Path(cfg.init), decoder_layers=0, **given)
        else:
            vocab_size = task.corpus.vocab_size
            model = TwoTower(dataclasses.replace(config, vocab_size=vocab_size, decoder_layers=0))
        if config.bag.token_weights:
            model.weigh_tokens(torch.from_numpy(task.corpus.token_counts()))
        task.note_model(model.config)
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
