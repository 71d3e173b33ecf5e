"""Adam with a learning rate of its own for some parameters; fairseq sets one for all."""

import mpbert.model.fairseq_plugin.compat  # isort: skip  # noqa: F401  (fixes fairseq before it is imported)

from collections.abc import Iterable

from fairseq.optim import register_optimizer
from fairseq.optim.adam import FairseqAdam, FairseqAdamConfig
from torch import nn


@register_optimizer("mpbert_adam", dataclass=FairseqAdamConfig)
class GroupedAdam(FairseqAdam):
    """A parameter with ``lr_factor`` has the schedule's learning rate times this factor."""

    def __init__(self, cfg: FairseqAdamConfig, params: Iterable[nn.Parameter]) -> None:
        groups: dict[float, list[nn.Parameter]] = {}
        for parameter in params:
            groups.setdefault(getattr(parameter, "lr_factor", 1.0), []).append(parameter)
        super().__init__(cfg, [{"params": p, "lr_factor": f} for f, p in groups.items()])
        self._lr = cfg.lr[0]

    def get_lr(self) -> float:
        """Return the schedule's learning rate."""
        return self._lr

    def set_lr(self, lr: float) -> None:
        """Set that of every group."""
        self._lr = lr
        for group in self.param_groups:
            group["lr"] = lr * group["lr_factor"]
