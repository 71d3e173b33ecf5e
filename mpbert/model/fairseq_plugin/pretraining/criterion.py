"""The masked-sentence loss as a fairseq criterion."""

import math
from dataclasses import dataclass, field
from typing import Any

from fairseq import metrics
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from torch import Tensor, nn

from mpbert.model.objectives import masked_sentence_loss


@dataclass
class MaskedSentenceCriterionConfig(FairseqDataclass):
    """Options of the loss."""

    label_smoothing: float = field(default=0.1, metadata={"help": "0.1 in HIBERT's command"})


@register_criterion("mpbert_masked_sentences", dataclass=MaskedSentenceCriterionConfig)
class MaskedSentenceCriterion(FairseqCriterion):
    """Loss per token of the masked sentences."""

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
        return (
            loss,
            len(targets),
            {
                "loss": loss.detach(),
                "ntokens": sample["num_tokens"],
                "nsentences": sample["num_papers"],
                "sample_size": len(targets),
            },
        )

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        """Log bits per predicted token."""
        loss = sum(float(log.get("loss", 0)) for log in logging_outputs)
        size = max(sum(int(log.get("sample_size", 0)) for log in logging_outputs), 1)
        metrics.log_scalar("loss", loss / size / math.log(2), size, round=3)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """All logged values are sums."""
        return True
