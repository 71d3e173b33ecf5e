"""The multi-positive triplet objectives as a fairseq criterion."""

from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq import metrics
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from torch import Tensor, nn

from mpbert.foundation.errors import ConfigError
from mpbert.model.objectives import (
    OBJECTIVES,
    contrastive_logits,
    euclidean_distance,
    multi_positive_contrastive,
)

CONTRASTIVE = "contrastive"


@dataclass
class MultiPositiveConfig(FairseqDataclass):
    """Which objective."""

    objective: ChoiceEnum(sorted([*OBJECTIVES, CONTRASTIVE])) = field(
        default="mpt-src-tgt",
        metadata={"help": "Zhang & Ma (2021), Eq. 3, 5, 4 and 6, or all papers of the batch"},
    )
    temperature: float = field(default=0.05, metadata={"help": "of cosines, objective contrastive"})
    count_correction: float = field(
        default=0.5, metadata={"help": "times ln(1 + citations), objective contrastive"}
    )
    nested_dims: str = field(
        default="",
        metadata={
            "help": "train the first so many numbers of a vector as vectors of their own, too, "
            "such as 64,128,256; objective contrastive"
        },
    )


@register_criterion("mpbert_multi_positive", dataclass=MultiPositiveConfig)
class MultiPositiveCriterion(FairseqCriterion):
    """Loss per example; also the share of examples whose target is nearer than all negatives."""

    def __init__(
        self,
        task: Any,
        objective: str,
        temperature: float = 0.05,
        count_correction: float = 0.5,
        nested_dims: str = "",
    ) -> None:
        super().__init__(task)
        self.objective = OBJECTIVES.get(str(objective))  # None: contrastive
        self.temperature, self.count_correction = temperature, count_correction
        self.nested_dims = _dims(nested_dims)
        if self.nested_dims and self.objective is not None:
            raise ConfigError(
                f"--nested-dims {nested_dims} with --objective {objective}; expected "
                f"--objective {CONTRASTIVE}, or no --nested-dims"
            )

    def forward(
        self, model: nn.Module, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """Return loss, number of examples and what to log."""
        manuscripts, papers = model(sample["manuscripts"], sample["papers"])
        s, papers = manuscripts.float(), papers.float()
        t, n = papers[sample["targets"]], papers[sample["negatives"]]
        if self.objective is None:
            loss = self._contrastive(s, papers, sample).sum()
        else:
            c = papers[sample["positives"]]
            loss = self.objective(s, t, c, sample["is_positive"], n).sum()
        with torch.no_grad():
            nearer = euclidean_distance(s, t)[:, None] < euclidean_distance(s[:, None], n)
            nearest = nearer.all(dim=1).sum()
        return (
            loss,
            sample["num_examples"],
            {
                "loss": loss.detach(),
                "nearest": nearest,
                "ntokens": len(sample["papers"].tokens) + len(sample["manuscripts"].tokens),
                "nsentences": sample["num_examples"],
                "sample_size": sample["num_examples"],
            },
        )

    def _contrastive(self, s: Tensor, papers: Tensor, sample: dict[str, Any]) -> Tensor:
        """Return (B,) losses: means over nested vectors, Kusupati et al. (NeurIPS 2022), Eq. 1."""
        size = s.shape[1]
        if max(self.nested_dims, default=0) >= size:
            raise ConfigError(
                f"--nested-dims {self.nested_dims}; expected numbers below {size}, the size of a "
                f"whole vector, which is always trained"
            )
        losses = torch.zeros(len(s), device=s.device)
        for dim in (*self.nested_dims, size):
            logits = contrastive_logits(
                s[:, :dim],
                papers[:, :dim],
                sample["log_counts"],
                self.temperature,
                self.count_correction,
            )
            losses += multi_positive_contrastive(logits, sample["is_wanted"], sample["is_known"])
        return losses / (len(self.nested_dims) + 1)

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        """Log loss and accuracy per example."""
        size = max(sum(int(log.get("sample_size", 0)) for log in logging_outputs), 1)
        for key, name in (("loss", "loss"), ("nearest", "accuracy")):
            total = sum(float(log.get(key, 0)) for log in logging_outputs)
            metrics.log_scalar(name, total / size, size, round=4)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """All logged values are sums."""
        return True


def _dims(text: str) -> tuple[int, ...]:
    """Return the sizes of nested vectors.

    :raises ConfigError: one is no number above 0.
    """
    try:
        dims = tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        dims = (0,)
    if min(dims, default=1) < 1:
        raise ConfigError(f"--nested-dims {text}; expected numbers above 0, such as 64,128,256")
    return dims
