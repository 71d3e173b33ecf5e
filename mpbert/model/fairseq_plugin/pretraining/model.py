"""The models of pretraining as fairseq models: they guess masked sentences, or their vectors."""

import dataclasses
from typing import Any

import torch
from fairseq.models import register_model
from torch import Tensor

from mpbert.model.config import PRETRAIN, ModelConfig, TrainingConfig
from mpbert.model.configuration import knobs
from mpbert.model.fairseq_plugin.bases import WrappedModel
from mpbert.model.fairseq_plugin.flags import section_of
from mpbert.model.fairseq_plugin.options import fairseq_dataclass
from mpbert.model.masked_sentences import MaskedSentenceModel, MaskedVectorModel
from mpbert.model.packing import MaskedSentences, PackedPapers

PretrainModelOptions = fairseq_dataclass(
    "PretrainModelOptions",
    [*knobs(ModelConfig, PRETRAIN), *knobs(TrainingConfig, PRETRAIN, "autocast_bf16")],
)


@register_model("mpbert_hibert", dataclass=PretrainModelOptions)
class FairseqMaskedSentenceModel(WrappedModel):
    """Wraps :class:`MaskedSentenceModel`."""

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
        with self.autocast(device):
            return self.model(papers.to(device), masked.to(device))


@register_model("mpbert_document_level", dataclass=PretrainModelOptions)
class FairseqMaskedVectorModel(WrappedModel):
    """Wraps :class:`MaskedVectorModel`."""

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "FairseqMaskedVectorModel":
        """Build for the vectors of the task, or for its tokens."""
        config = section_of(ModelConfig, cfg, PRETRAIN)
        config = dataclasses.replace(
            config, vocab_size=task.corpus.vocab_size, upper=task.upper_of(config)
        )
        task.note_model(config)
        model = MaskedVectorModel(config)
        if model.bag is not None and config.bag.token_weights:
            model.bag.start_from_counts(torch.from_numpy(task.corpus.token_counts()))
        return cls(model, cfg.autocast_bf16)

    def forward(self, sample: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Return (M, E) guesses, and (S, E) vectors of all sentences."""
        device = self.model.mask.device
        rows = (sample[name].to(device) for name in ("source", "hidden", "masked"))
        with self.autocast(device):
            return self.model(sample["papers"].to(device), *rows)
