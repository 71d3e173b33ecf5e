"""The loop of all trainings: steps, losses, the log, and what a killed one goes on from.

A step is what is done as a whole: an epoch, or a single update. What it changes depends on nothing
but its number and the state before it, so that a training that was killed, and goes on from a saved
state, ends in the same bits.
"""

import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.progress import LINE_SECONDS, progress, time_left
from mpbert.foundation.training_log import loss_fields
from mpbert.methods.checkpoint import Checkpoint, State
from mpbert.methods.method import Method

logger = logging.getLogger(__name__)

SAVE_SECONDS = 120.0  # between two checkpoints: what a killed run has to do again


@dataclass(frozen=True)
class Plan:
    """How long a training is.

    :param name: what progress and log call it.
    :param num_steps: steps altogether.
    :param unit: what a step is, ``epoch`` or ``update``.
    :param updates_per_step: updates of a step.
    :param steps_per_line: steps between two lines of the log.
    :param learning_rate: that of the settings, for the message where the loss is no number.
    :param part: what it is of a method that trains several things; empty: the main one.
    """

    name: str
    num_steps: int
    unit: str = "epoch"
    updates_per_step: int = 1
    steps_per_line: int = 1
    learning_rate: float = 0.0
    part: str = ""

    @classmethod
    def of_epochs(cls, settings: Method, num_examples: int) -> "Plan":
        """Return the ``epochs`` of a method, each of updates by ``batch`` examples."""
        s, updates = settings, -(-num_examples // settings.batch)
        return cls(s.name, s.epochs, "epoch", updates, learning_rate=s.learning_rate)

    @property
    def num_updates(self) -> int:
        """Updates altogether."""
        return self.num_steps * self.updates_per_step


class Learner(ABC):
    """What is trained, step by step.

    :ivar plan: how long.
    """

    plan: Plan

    @abstractmethod
    def step(self, number: int) -> Iterator[float]:
        """Do a step, counted from 0; yield the loss of each update, if there is one."""

    @abstractmethod
    def state(self) -> State:
        """Return all that steps change, generators too."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Put back what :meth:`state` returned."""


def train(learner: Learner, checkpoint: Checkpoint | None = None) -> int:
    """Do all steps of the plan; return the number of updates.

    :param checkpoint: where to go on, and what to save now and then.
    :raises ConfigError: the loss is no number any more.
    """
    start = _restored(learner, checkpoint)
    try:
        _train_from(start, learner, checkpoint)
    except KeyboardInterrupt as error:
        kept = checkpoint.load() if checkpoint else None
        if kept is None or str(error):
            raise
        raise type(error)(
            f"interrupted; a checkpoint after {kept.values['steps']} of {learner.plan.num_steps} "
            f"{learner.plan.unit}s is kept: run this again, and it goes on"
        ) from None
    return learner.plan.num_updates


def _train_from(start: int, learner: Learner, checkpoint: Checkpoint | None) -> None:
    """Do the steps of the plan from a number on."""
    plan = learner.plan
    losses: list[float] = []
    begun = saved = told = time.monotonic()
    for step in progress(range(start, plan.num_steps), plan.name, plan.unit):
        for place, loss in enumerate(learner.step(step)):
            _check(loss, step * plan.updates_per_step + place + 1, plan)
            losses.append(loss)
            if (now := time.monotonic()) - told >= LINE_SECONDS:
                done, told = step * plan.updates_per_step + place + 1, now
                rate = (now - begun) / (done - start * plan.updates_per_step)
                _tell(np.mean(losses), done, plan, rate * (plan.num_updates - done))
        if losses and (step + 1) % plan.steps_per_line == 0:
            _log(np.mean(losses), step + 1, plan)
            losses.clear()
        if checkpoint and time.monotonic() - saved >= SAVE_SECONDS:
            state = learner.state()
            checkpoint.save(State(state.arrays, {**state.values, "steps": step + 1}))
            saved = time.monotonic()


def _restored(learner: Learner, checkpoint: Checkpoint | None) -> int:
    """Put back what was saved, if anything was; return the number of steps done."""
    state = checkpoint.load() if checkpoint else None
    if state is None:
        return 0
    learner.restore(state)
    plan, steps = learner.plan, state.values["steps"]
    logger.info("%s: training goes on after %d %ss", plan.name, steps, plan.unit)
    return steps


def _check(loss: float, update: int, plan: Plan) -> None:
    if not math.isfinite(loss):
        raise ConfigError(
            f"learning_rate={plan.learning_rate:g}: the loss is {loss} at update {update} of "
            f"{plan.num_updates}; expected a number, choose a lower rate"
        )


def _tell(loss: float, update: int, plan: Plan, seconds: float) -> None:
    """Tell how far it is between two lines that belong to the curve of losses."""
    logger.info(
        "%s: update %d of %d, loss %.4f%s",
        *(plan.name, update, plan.num_updates, loss, time_left(seconds)),
    )


def _log(loss: float, steps: int, plan: Plan) -> None:
    """Tell the mean loss since the last line."""
    update = steps * plan.updates_per_step
    logger.info(
        "%s: update %d of %d, loss %.4f",
        *(plan.name, update, plan.num_updates, loss),
        extra=loss_fields(plan.name, update, loss, plan.part),
    )
