"""Training of DACR's network by negative sampling, and its use."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.checkpoint import State
from mpbert.methods.dacr.examples import DacrExamples
from mpbert.methods.dacr.model import DualAttention, negative_sampling_loss
from mpbert.methods.ragged_attention import Elements
from mpbert.methods.torch_training import TorchLearner
from mpbert.methods.training import Plan

_POWER = 0.75  # of citation counts, the noise distribution of word2vec


@dataclass(frozen=True)
class DacrSchedule:
    """How long and how fast to learn, and from what.

    :param negatives: noise papers sampled for a batch; ``noise_weight``: that of all of them.
    :param word_dropout: share of words left out; ``known_dropout``: of contexts trained without
        known citations.
    """

    negatives: int
    noise_weight: float
    epochs: int
    batch_size: int
    learning_rate: float
    word_dropout: float
    known_dropout: float


class DacrLearner(TorchLearner):
    """An epoch a step: all contexts in random order, learnt from by Adam.

    :param examples: the training contexts.
    :param cited: rows of the papers that each of them cites.
    :param rng: of all that is random; it goes on from epoch to epoch.
    """

    def __init__(
        self,
        model: DualAttention,
        examples: DacrExamples,
        cited: Ragged,
        schedule: DacrSchedule,
        rng: np.random.Generator,
    ) -> None:
        self._optimizer = torch.optim.Adam(
            model.parameters(), lr=schedule.learning_rate, fused=True
        )
        super().__init__(model, [self._optimizer])
        self._examples, self._cited, self._schedule, self._rng = examples, cited, schedule, rng
        noise = np.bincount(cited.items, minlength=len(model.targets)) ** _POWER
        self._noise = noise / noise.sum()
        self._num_batches = -(-len(examples) // schedule.batch_size)
        num_updates = schedule.epochs * self._num_batches
        self._rates = np.linspace(schedule.learning_rate, 0, num_updates, endpoint=False)

    def plan(self) -> Plan:
        """Return how long the training is."""
        s = self._schedule
        return Plan("dacr", s.epochs, "epoch", self._num_batches, learning_rate=s.learning_rate)

    def step(self, number: int) -> Iterator[float]:
        """Learn from all contexts; some of their inputs are left out at random."""
        s, rng, size = self._schedule, self._rng, len(self._examples)
        batches = np.array_split(rng.permutation(size), self._num_batches)
        for rows, rate in zip(batches, self._rates[number * len(batches) :], strict=False):
            seen = self._examples.take(rows).thinned(s.word_dropout, s.known_dropout, rng)
            noise = rng.choice(len(self._noise), s.negatives, p=self._noise)
            weight = s.noise_weight / s.negatives
            loss = _loss(self.module, seen, self._cited.take(rows), noise, weight)
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.param_groups[0]["lr"] = rate
            self._optimizer.step()
            yield float(loss.detach()) * len(rows) * self._num_batches / size  # a context alike

    def state(self) -> State:
        """Return also the state of the generator."""
        return State(super().state().arrays, {"random": self._rng.bit_generator.state})

    def restore(self, state: State) -> None:
        """Put back the generator too."""
        super().restore(state)
        self._rng.bit_generator.state = state.values["random"]


@torch.no_grad()
def embed(model: DualAttention, examples: DacrExamples, batch_size: int) -> np.ndarray:
    """Return (Q, D) query vectors."""
    queries = [np.zeros((0, model.targets.shape[1]), dtype=np.float32)]
    for start in range(0, len(examples), batch_size):
        rows = np.arange(start, min(start + batch_size, len(examples)))
        queries.append(_queries(model, examples.take(rows)).numpy())
    return np.concatenate(queries)


def _queries(model: DualAttention, examples: DacrExamples) -> Tensor:
    return model(Elements.of(examples.words), Elements.of(examples.known), len(examples))


def _loss(
    model: DualAttention,
    examples: DacrExamples,
    cited: Ragged,
    noise: np.ndarray,
    weight: float,
) -> Tensor:
    """Return the mean loss of all pairs of a context and a paper it cites.

    :param noise: rows of the noise papers, with repetitions; each has this weight.
    """
    papers, times = np.unique(noise, return_counts=True)
    column = np.full(len(model.targets), -1)
    column[papers] = np.arange(len(papers))
    context = row_numbers(cited.lengths)
    weights = np.tile((weight * times).astype(np.float32), (len(cited), 1))
    hits = column[cited.items] >= 0
    weights[context[hits], column[cited.items[hits]]] = 0
    pairs = torch.from_numpy(context)
    losses = negative_sampling_loss(
        _queries(model, examples)[pairs],
        F.embedding(torch.from_numpy(cited.items.astype(np.int64)), model.targets),
        F.embedding(torch.from_numpy(papers), model.targets),
        torch.from_numpy(weights)[pairs],
    )
    return losses.mean()
