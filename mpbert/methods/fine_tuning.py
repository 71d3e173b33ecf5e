"""Fine-tuning of a pretrained transformer by AdamW, whatever the objective."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import nn

from mpbert.foundation.errors import CorpusError
from mpbert.methods.checkpoint import Checkpoint, State
from mpbert.methods.torch_training import TorchLearner, array_of
from mpbert.methods.training import Plan, train

_WARM_UP = 0.1  # of all updates
_WEIGHT_DECAY = 0.01  # of matrices
_MAX_GRADIENT = 1.0  # norm


class Objective(Protocol):
    """What is learnt: ``examples`` (M,) to visit once an epoch."""

    examples: np.ndarray

    def backward(self, examples: np.ndarray, rng: np.random.Generator) -> float:
        """Add the gradient of a batch; return its loss, in nats."""


@dataclass(frozen=True)
class FineTuningSchedule:
    """How long and how fast to learn.

    :param epochs: visits of each example.
    :param batch: examples of an update.
    :param learning_rate: the highest; it rises linearly in the first tenth of the updates and
        falls linearly to 0 in the rest.
    """

    epochs: int
    batch: int
    learning_rate: float

    def plan(self, name: str, per_epoch: int, part: str = "") -> Plan:
        """Return a plan of so many updates an epoch, with a line of the log for each."""
        updates = self.epochs * per_epoch
        return Plan(name, updates, "update", 1, per_epoch, self.learning_rate, part)

    def rate(self, step: int, num_steps: int) -> float:
        """Return the learning rate of an update, counted from 0."""
        rising = max(math.ceil(num_steps * _WARM_UP), 1)
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        return self.learning_rate * (num_steps - step) / (num_steps - rising + 1)


def fine_tune(
    model: nn.Module,
    objective: Objective,
    schedule: FineTuningSchedule,
    seed: int,
    checkpoint: Checkpoint | None = None,
) -> int:
    """Fine-tune by AdamW (Loshchilov and Hutter, ICLR 2019); return the number of updates.

    :param model: whose weights are trained, where it lies.
    :param seed: of the order of examples and all that is sampled for them.
    :param checkpoint: where to go on, and what to save now and then.
    :raises CorpusError: there is nothing to learn from.
    :raises ConfigError: the loss is no number any more.
    """
    if len(objective.examples) < 2:
        raise CorpusError(
            "fewer than two training examples; expected training contexts that cite training "
            "papers: choose other years, or --settings epochs=0"
        )
    learner = _FineTuning(model, objective, schedule, seed)
    model.train()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        updates = train(learner, checkpoint)
    model.eval()
    return updates


class _FineTuning(TorchLearner):
    """An update a step, in which dropout uses the generator of torch."""

    def __init__(
        self, model: nn.Module, objective: Objective, schedule: FineTuningSchedule, seed: int
    ) -> None:
        super().__init__(model, [_optimizer(model)])
        self.plan = schedule.plan("fine-tune", math.ceil(len(objective.examples) / schedule.batch))
        self._is_on_gpu = next(model.parameters()).is_cuda
        self._objective, self._schedule, self._seed = objective, schedule, seed

    def step(self, number: int) -> Iterator[float]:
        """Do an update; the examples of an epoch have a random order."""
        (optimizer,), per_epoch = self.optimizers, self.plan.steps_per_line
        epoch, place = divmod(number, per_epoch)
        order = np.random.default_rng([self._seed, epoch]).permutation(self._objective.examples)
        examples = np.array_split(order, per_epoch)[place]
        self.set_rate(self._schedule.rate(number, self.plan.num_steps))
        rng = np.random.default_rng([self._seed, epoch, place])
        yield self._objective.backward(examples, rng)
        torch.nn.utils.clip_grad_norm_(self.module.parameters(), _MAX_GRADIENT)
        optimizer.step()
        optimizer.zero_grad()

    def state(self) -> State:
        """Return also the state of the generators."""
        found = super().state()
        found.arrays["random.cpu"] = torch.get_rng_state().numpy()
        if self._is_on_gpu:
            found.arrays["random.cuda"] = array_of(torch.cuda.get_rng_state())
        return found

    def restore(self, state: State) -> None:
        """Put back the generators too."""
        super().restore(state)
        torch.set_rng_state(torch.tensor(state.arrays["random.cpu"]))
        if self._is_on_gpu and "random.cuda" in state.arrays:  # not in one that a CPU has saved
            torch.cuda.set_rng_state(torch.tensor(state.arrays["random.cuda"]))


def _optimizer(model: nn.Module) -> torch.optim.AdamW:
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": _WEIGHT_DECAY},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups)
