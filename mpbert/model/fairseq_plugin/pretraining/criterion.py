"""The losses of pretraining as fairseq criteria: of masked sentences, and of masked vectors."""

import math
from typing import Any, ClassVar

import torch.nn.functional as F
from fairseq.criterions import register_criterion
from torch import Tensor, nn

from mpbert.model.config import PRETRAIN, ObjectiveConfig
from mpbert.model.configuration import knobs
from mpbert.model.fairseq_plugin.bases import SummedCriterion
from mpbert.model.fairseq_plugin.options import fairseq_dataclass
from mpbert.model.objectives import masked_sentence_loss, masked_vector_logits

MaskedOptions = fairseq_dataclass("MaskedOptions", knobs(ObjectiveConfig, PRETRAIN))


@register_criterion("mpbert_masked_sentences", dataclass=MaskedOptions)
class MaskedSentenceCriterion(SummedCriterion):
    """Loss per token of the masked sentences, logged in bits."""

    DIGITS = 3

    def __init__(self, task: Any, label_smoothing: float) -> None:
        super().__init__(task)
        self.label_smoothing = label_smoothing

    def forward(
        self, model: nn.Module, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """Return loss, number of target tokens and what to log."""
        logits = model(sample["papers"], sample["masked"])
        targets = sample["masked"].targets.to(logits.device)
        loss = masked_sentence_loss(logits, targets, self.label_smoothing)
        read = {"ntokens": sample["num_tokens"], "nsentences": sample["num_papers"]}
        return self.logged(loss, len(targets), **read)


@register_criterion("mpbert_masked_vectors", dataclass=MaskedOptions)
class MaskedVectorCriterion(SummedCriterion):
    """Loss per masked sentence, logged in bits; also the share of those that are guessed first."""

    UNITS: ClassVar = {"loss": ("loss", math.log(2)), "first": ("accuracy", 1.0)}

    def __init__(self, task: Any, temperature: float) -> None:
        super().__init__(task)
        self.temperature = temperature

    def forward(
        self, model: nn.Module, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """Return loss, number of masked sentences and what to log."""
        guesses, vectors = model(sample)
        targets = sample["masked"].to(guesses.device)
        blocks = sample["papers"].papers.row.to(guesses.device)
        logits = masked_vector_logits(guesses, vectors, targets, blocks, self.temperature)
        loss = F.cross_entropy(logits, targets, reduction="sum")
        first = (logits.argmax(dim=1) == targets).sum().detach()
        read = {"ntokens": len(vectors), "nsentences": sample["num_papers"]}
        return self.logged(loss, len(targets), first=first, **read)
