"""Training of HAtten: Gu, Gao and Hahnloser (ECIR 2022), Sec. 4.3 and 5; see its code for the rest.

A loop is a number of updates by Adam. Beside the weights their moving average is kept; at the end
of a loop it becomes the weights, and with it papers are prefetched for the queries of the next one.
The first loop has no prefetched papers.
"""

import logging
import math
import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.progress import progress
from mpbert.foundation.training_log import loss_fields
from mpbert.methods.checkpoint import Checkpoint
from mpbert.methods.hatten.examples import Examples
from mpbert.methods.hatten.mining import (
    ALIKE,
    CITED,
    OTHERS,
    Drawing,
    draw,
    known_papers,
    prefetch,
)
from mpbert.methods.hatten.model import Encoder

logger = logging.getLogger(__name__)

SAVE_SECONDS = 120.0  # what a killed run has to do again, at most
_BETAS = (0.9, 0.999)


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to learn, and from what.

    :param loops: of ``updates`` updates each; ``batch`` queries each.
    :param mined: most queries of a loop for which papers are prefetched, which are its queries.
    :param prefetched: papers of a list.
    :param average: part of the moving average that an update leaves.
    :param margin: per level where ``graded``, else of every triplet.
    """

    loops: int
    updates: int
    batch: int
    mined: int
    prefetched: int
    drawing: Drawing
    learning_rate: float
    weight_decay: float
    average: float
    margin: float
    graded: bool
    bfloat16: bool


def triplet_loss(similarities: Tensor, levels: Tensor, margin: float, graded: bool) -> Tensor:
    """Return the sum over all triplets of a query, a relevant paper and a less relevant one, Eq. 3.

        L = Σ max(s(q, d-) - s(q, d+) + m, 0)

    Graded, as the code: m = margin · (level of d- minus that of d+), for d+ cited or alike and any
    d- of a higher level. Else, as the paper: m = margin, where d- of an alike d+ are only papers
    that were not prefetched for the query.

    :param similarities: (B, U) cosines of queries and papers.
    :param levels: (B, U) see :mod:`mpbert.methods.hatten.mining`.
    """
    query, positive = ((levels == CITED) | (levels == ALIKE)).nonzero(as_tuple=True)
    closer = levels[query, positive][:, None]  # (T, 1)
    others = levels[query]  # (T, U)
    is_triplet = others > closer
    margins: Tensor | float = margin * (others - closer)
    if not graded:
        is_triplet = is_triplet & ((closer == CITED) | (others == OTHERS))
        margins = margin
    losses = similarities[query] - similarities[query, positive][:, None] + margins
    return (losses.clamp(min=0) * is_triplet).sum()


def train(
    encoder: Encoder,
    examples: Examples,
    schedule: Schedule,
    seed: int,
    checkpoint: Checkpoint | None = None,
) -> int:
    """Train the encoder, which has the moving average in the end; return the number of updates.

    :param seed: of all that is drawn.
    :param checkpoint: where to go on, and what to save now and then.
    :raises ConfigError: the loss is no number any more.
    """
    state = _State(encoder, schedule)
    num_steps = schedule.loops * schedule.updates
    losses: list[float] = []
    encoder.train()
    start, saved = state.load(checkpoint), time.monotonic()
    with torch.random.fork_rng():  # dropout has no generator of its own
        for step in progress(range(start, num_steps), "hatten", "update"):
            loop, place = divmod(step, schedule.updates)
            if place == 0:
                state.begin_loop(examples, schedule, np.random.default_rng([seed, 1, loop]), loop)
            rng = np.random.default_rng([seed, 2, step])
            torch.manual_seed(int(rng.integers(2**63)))
            losses.append(state.update(examples, schedule, rng))
            if not math.isfinite(losses[-1]):
                raise ConfigError(
                    f"learning_rate={schedule.learning_rate:g}: the loss is {losses[-1]} at update "
                    f"{step + 1} of {num_steps}; expected a number, choose a lower rate"
                )
            if place == schedule.updates - 1:
                mean = np.mean(losses)
                logger.info(
                    "loop %d of %d: loss of a query %.3f",
                    *(loop + 1, schedule.loops, mean),
                    extra=loss_fields("hatten", step + 1, mean),
                )
                losses.clear()
            if checkpoint and time.monotonic() - saved >= SAVE_SECONDS:
                checkpoint.save(state.tensors(), {"step": step + 1})
                saved = time.monotonic()
    state.take_average()
    encoder.eval()
    return num_steps


class _State:
    """All that changes in training: weights, their average, moments of Adam, prefetched lists."""

    def __init__(self, encoder: Encoder, schedule: Schedule) -> None:
        self.encoder = encoder
        self.average = {k: p.detach().clone() for k, p in encoder.named_parameters()}
        self.optimizer = torch.optim.Adam(
            encoder.parameters(),
            lr=schedule.learning_rate,
            betas=_BETAS,
            weight_decay=schedule.weight_decay,
        )
        self.queries = np.zeros(0, dtype=np.int64)  # those of the loop
        self.lists: np.ndarray | None = None  # (queries, K) papers prefetched for them

    def begin_loop(
        self, examples: Examples, schedule: Schedule, rng: np.random.Generator, loop: int
    ) -> None:
        """Go on from the average, choose queries, and prefetch papers for them."""
        self.queries = np.arange(len(examples))
        if loop == 0:
            return
        self.take_average()
        if schedule.mined < len(examples):
            self.queries = np.sort(rng.choice(len(examples), schedule.mined, replace=False))
        self.lists = prefetch(
            self.encoder.embed(examples.queries.take(self.queries), schedule.bfloat16),
            self.encoder.embed(examples.papers.take(examples.pool), schedule.bfloat16),
            examples.pool,
            known_papers(examples, self.queries),
            schedule.prefetched,
        )

    def update(self, examples: Examples, schedule: Schedule, rng: np.random.Generator) -> float:
        """Learn from one batch; return its loss per query."""
        size = min(schedule.batch, len(self.queries))
        places = rng.choice(len(self.queries), size, replace=False)
        queries = self.queries[places]
        lists = None if self.lists is None else self.lists[places]
        papers, levels = draw(examples, queries, lists, schedule.drawing, rng)
        device = self.encoder.words.device
        with torch.autocast(device.type, torch.bfloat16, enabled=schedule.bfloat16):
            asked = self.encoder(examples.queries.take(queries))
            found = self.encoder(examples.papers.take(papers))
        similarities = F.normalize(asked, dim=1) @ F.normalize(found, dim=1).T
        table = torch.from_numpy(levels).to(device)
        loss = triplet_loss(similarities, table, schedule.margin, schedule.graded)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for name, parameter in self.encoder.named_parameters():
                self.average[name].lerp_(parameter, 1 - schedule.average)
        return loss.item() / size

    @torch.no_grad()
    def take_average(self) -> None:
        """Make the moving average the weights."""
        for name, parameter in self.encoder.named_parameters():
            parameter.copy_(self.average[name])

    def tensors(self) -> dict[str, Tensor]:
        """Return what a checkpoint holds."""
        tensors = {f"weights.{k}": p.detach() for k, p in self.encoder.named_parameters()}
        tensors |= {f"average.{name}": tensor for name, tensor in self.average.items()}
        for number, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{key}": value for key, value in moments.items()}
        tensors["loop.queries"] = torch.from_numpy(self.queries)
        if self.lists is not None:
            tensors["loop.lists"] = torch.from_numpy(self.lists)
        return tensors

    @torch.no_grad()
    def load(self, checkpoint: Checkpoint | None) -> int:
        """Restore what was saved, if anything was; return the number of updates done."""
        tensors, metadata = (checkpoint.load() if checkpoint else None) or ({}, {"step": 0})
        if not tensors:
            return 0
        for name, parameter in self.encoder.named_parameters():
            parameter.copy_(tensors[f"weights.{name}"])
            self.average[name].copy_(tensors[f"average.{name}"])
        moments: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            if key.startswith("adam."):
                _, number, name = key.split(".")
                moments.setdefault(int(number), {})[name] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        self.queries = tensors["loop.queries"].numpy()
        self.lists = tensors["loop.lists"].numpy() if "loop.lists" in tensors else None
        logger.info("training goes on after %d updates", metadata["step"])
        return metadata["step"]
