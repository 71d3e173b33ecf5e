"""A learning rate that ends at zero with the last epoch, however many batches an epoch has."""

from dataclasses import dataclass, field

from fairseq.dataclass import FairseqDataclass
from fairseq.optim.lr_scheduler import FairseqLRScheduler, register_lr_scheduler
from omegaconf import II

from mpbert.foundation.errors import ConfigError


@dataclass
class LinearToZeroConfig(FairseqDataclass):
    """Length of the rise; the fall takes the rest of ``--max-epoch``."""

    warmup_updates: int = field(default=0, metadata={"help": "updates of the linear rise"})
    lr: list[float] = II("optimization.lr")
    max_epoch: int = II("optimization.max_epoch")
    update_freq: list[int] = II("optimization.update_freq")


@register_lr_scheduler("mpbert_linear", dataclass=LinearToZeroConfig)
class LinearToZero(FairseqLRScheduler):
    """Linear rise, then linear fall to zero.

    fairseq's own needs ``--total-num-update``, which differs from corpus to corpus.
    """

    def __init__(self, cfg: LinearToZeroConfig, optimizer: object) -> None:
        super().__init__(cfg, optimizer)
        self._batches_per_epoch = 0  # of one process
        if cfg.max_epoch < 1 or cfg.warmup_updates < 0:
            raise ConfigError(
                f"max_epoch {cfg.max_epoch} warmup_updates {cfg.warmup_updates}; "
                f"lr_scheduler linear expects at least 1 and 0"
            )

    def take_epoch(self, num_batches: int) -> None:
        """Note how many batches the epoch has that begins; the launcher tells every schedule."""
        self._batches_per_epoch = num_batches

    def step_update(self, num_updates: int) -> float:
        """Set and return the rate of the next update."""
        updates_per_epoch = -(-self._batches_per_epoch // self.cfg.update_freq[0])
        total = self.cfg.max_epoch * max(updates_per_epoch, 1)
        rise = self.cfg.warmup_updates
        share = (
            (num_updates + 1) / (rise + 1)
            if num_updates < rise
            else max(total - num_updates, 0) / max(total - rise, 1)
        )
        self.optimizer.set_lr(self.cfg.lr[0] * share)
        return self.optimizer.get_lr()
