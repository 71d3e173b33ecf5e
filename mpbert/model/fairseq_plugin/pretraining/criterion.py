"""The masked-sentence loss as a fairseq criterion."""

import math
from typing import Any

from fairseq import metrics
from fairseq.criterions import FairseqCriterion, register_criterion
from torch import Tensor, nn

from mpbert.model.config import PRETRAIN, ObjectiveConfig
from mpbert.model.configuration import knobs
from mpbert.model.fairseq_plugin.options import fairseq_dataclass
from mpbert.model.objectives import masked_sentence_loss

MaskedSentenceOptions = fairseq_dataclass("MaskedSentenceOptions", knobs(ObjectiveConfig, PRETRAIN))


@register_criterion("mpbert_masked_sentences", dataclass=MaskedSentenceOptions)
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
