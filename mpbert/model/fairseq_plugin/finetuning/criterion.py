"""The multi-positive triplet objectives as a fairseq criterion."""

from typing import Any, ClassVar

import torch
from fairseq.criterions import register_criterion
from torch import Tensor, nn

from mpbert.foundation.errors import ConfigError
from mpbert.model.config import CONTRASTIVE, FINETUNE, ObjectiveConfig
from mpbert.model.configuration import knobs
from mpbert.model.fairseq_plugin.bases import SummedCriterion
from mpbert.model.fairseq_plugin.flags import section_of
from mpbert.model.fairseq_plugin.options import fairseq_dataclass
from mpbert.model.objectives import (
    OBJECTIVES,
    contrastive_logits,
    euclidean_distance,
    less_counts,
    mpt_src_tgt,
    multi_positive_contrastive,
)

MultiPositiveOptions = fairseq_dataclass("MultiPositiveOptions", knobs(ObjectiveConfig, FINETUNE))


@register_criterion("mpbert_multi_positive", dataclass=MultiPositiveOptions)
class MultiPositiveCriterion(SummedCriterion):
    """Loss per example; also the share of examples whose target is nearer than all negatives."""

    UNITS: ClassVar = {"loss": ("loss", 1.0), "nearest": ("accuracy", 1.0)}

    def __init__(self, task: Any, config: ObjectiveConfig) -> None:
        super().__init__(task)
        self.config = config
        self.triplets = OBJECTIVES.get(config.objective, mpt_src_tgt)

    @classmethod
    def build_criterion(cls, cfg: Any, task: Any) -> "MultiPositiveCriterion":
        """Build from fairseq's options."""
        return cls(task, section_of(ObjectiveConfig, cfg, FINETUNE))

    def forward(
        self, model: nn.Module, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """Return loss, number of examples and what to log."""
        read = (sample[name] for name in ("manuscripts", "papers", "share", "states"))
        s, papers, matches = model(*read)
        t, n = papers[sample["targets"]], papers[sample["negatives"]]
        losses, weight = 0.0, 1.0
        if self.config.objective == CONTRASTIVE:
            losses, weight = self._contrastive(s, papers, sample), self.config.mpt_weight
        if matches is not None:
            logits = less_counts(matches, sample["log_counts"], self.config.count_correction)
            losses += multi_positive_contrastive(logits, sample["is_wanted"], sample["is_known"])
        if weight:
            c = papers[sample["positives"]]
            losses = losses + weight * self.triplets(s, t, c, sample["is_positive"], n)
        loss = losses[: sample["num_examples"]].sum()  # without what fills an empty share
        with torch.no_grad():
            nearer = euclidean_distance(s, t)[:, None] < euclidean_distance(s[:, None], n)
            nearest = nearer.all(dim=1)[: sample["num_examples"]].sum()
        size, texts = sample["num_examples"], (sample["papers"], sample["manuscripts"])
        read = {"ntokens": sum(len(text.tokens) for text in texts), "nsentences": size}
        return self.logged(loss, size, nearest=nearest, **read)

    def _contrastive(self, s: Tensor, papers: Tensor, sample: dict[str, Any]) -> Tensor:
        """Return (B,) losses, means over parts of a vector and over nested vectors.

        By one loss levels learn what the bag beside them leaves. A bag that has read the training
        texts before leaves nothing there, so levels may have a loss apart. Nested vectors:
        Kusupati et al. (NeurIPS 2022), Eq. 1.
        """
        nested, ends = self.config.dims, [*self.task.cuts, s.shape[1]]
        if max(nested, default=0) >= ends[0]:
            raise ConfigError(
                f"nested_dims {self.config.nested_dims}; expected numbers below {ends[0]}, the "
                f"size of a whole vector, which is always trained"
            )
        losses = torch.zeros(len(s), device=s.device)
        trained = (*map(slice, nested), *map(slice, [0, *ends], ends))
        for part in trained:
            logits = contrastive_logits(
                s[:, part],
                papers[:, part],
                sample["log_counts"],
                self.config.temperature,
                self.config.count_correction,
            )
            losses += multi_positive_contrastive(logits, sample["is_wanted"], sample["is_known"])
        return losses / len(trained)
