"""The masked-sentence model as a fairseq model."""

import dataclasses
from typing import Any

import torch
from fairseq.models import BaseFairseqModel, register_model
from torch import Tensor

from mpbert.model.config import PRETRAIN, ModelConfig, TrainingConfig
from mpbert.model.configuration import knobs
from mpbert.model.fairseq_plugin.flags import section_of
from mpbert.model.fairseq_plugin.options import fairseq_dataclass
from mpbert.model.masked_sentences import MaskedSentenceModel
from mpbert.model.packing import MaskedSentences, PackedPapers

HibertOptions = fairseq_dataclass(
    "HibertOptions",
    [*knobs(ModelConfig, PRETRAIN), *knobs(TrainingConfig, PRETRAIN, "autocast_bf16")],
)


@register_model("mpbert_hibert", dataclass=HibertOptions)
class FairseqMaskedSentenceModel(BaseFairseqModel):
    """Wraps :class:`MaskedSentenceModel`; adds nothing but autocast."""

    def __init__(self, model: MaskedSentenceModel, autocast_bf16: bool) -> None:
        super().__init__()
        self.model, self.autocast_bf16 = model, autocast_bf16

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "FairseqMaskedSentenceModel":
        """Build for the vocabulary of the task's corpus."""
        config = section_of(ModelConfig, cfg, PRETRAIN)
        config = dataclasses.replace(config, vocab_size=task.corpus.vocab_size)
        task.note_model(config)
        return cls(MaskedSentenceModel(config), cfg.autocast_bf16)

    def forward(self, papers: PackedPapers, masked: MaskedSentences) -> Tensor:
        """Return (N, V) logits."""
        device = self.model.encoder.bag.embedding.weight.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self.autocast_bf16):
            return self.model(papers.to(device), masked.to(device))

    def max_positions(self) -> None:
        """Return None: lengths are the corpus' and the task's business."""
        return
