"""Training of DACR's network by negative sampling, and its use."""

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.checkpoint import State
from mpbert.methods.dacr.examples import DacrExamples
from mpbert.methods.dacr.model import DualAttention, negative_sampling_loss
from mpbert.methods.method import Method
from mpbert.methods.ragged_attention import Elements
from mpbert.methods.rankings import places_of
from mpbert.methods.torch_training import TorchLearner
from mpbert.methods.training import Plan

_POWER = 0.75  # of citation counts, the noise distribution of word2vec


class DacrLearner(TorchLearner):
    """An epoch a step: all contexts in random order, learnt from by Adam.

    :param examples: the training contexts.
    :param cited: rows of the papers that each of them cites.
    :param settings: those of DACR.
    :param rng: of all that is random; it goes on from epoch to epoch.
    """

    def __init__(
        self,
        model: DualAttention,
        examples: DacrExamples,
        cited: Ragged,
        settings: Method,
        rng: np.random.Generator,
    ) -> None:
        rate, updates = settings.learning_rate, -(-len(examples) // settings.batch_size)
        super().__init__(model, [torch.optim.Adam(model.parameters(), lr=rate, fused=True)])
        self.plan = Plan("dacr", settings.epochs, "epoch", updates, learning_rate=rate)
        self._examples, self._cited, self._settings, self._rng = examples, cited, settings, rng
        noise = np.bincount(cited.items, minlength=len(model.targets)) ** _POWER
        self._noise = noise / noise.sum()
        self._rates = np.linspace(rate, 0, self.plan.num_updates, endpoint=False)

    def step(self, number: int) -> Iterator[float]:
        """Learn from all contexts; some of their inputs are left out at random."""
        s, rng, size = self._settings, self._rng, len(self._examples)
        batches = np.array_split(rng.permutation(size), self.plan.updates_per_step)
        for rows, rate in zip(batches, self._rates[number * len(batches) :], strict=False):
            seen = self._examples.take(rows).thinned(s.word_dropout, s.known_dropout, rng)
            noise = rng.choice(len(self._noise), s.negatives, p=self._noise)
            cited, weight = self._cited.take(rows), s.noise_weight / s.negatives
            self.set_rate(rate)
            loss = self.update(_loss(self.module, seen, cited, noise, weight))
            yield loss * len(rows) * len(batches) / size  # a context alike

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
    batches = np.split(np.arange(len(examples)), range(batch_size, len(examples), batch_size))
    return np.concatenate([_queries(model, examples.take(rows)).numpy() for rows in batches])


def _queries(model: DualAttention, examples: DacrExamples) -> Tensor:
    return model(Elements.of(examples.words), Elements.of(examples.known), len(examples))


def _loss(
    model: DualAttention, examples: DacrExamples, cited: Ragged, noise: np.ndarray, weight: float
) -> Tensor:
    """Return the mean loss of all pairs of a context and a paper it cites.

    :param noise: rows of the noise papers, with repetitions; each has this weight.
    """
    papers, times = np.unique(noise, return_counts=True)
    column, context = places_of(papers, cited.items), row_numbers(cited.lengths)
    weights = np.tile((weight * times).astype(np.float32), (len(cited), 1))
    weights[context[column >= 0], column[column >= 0]] = 0
    pairs = torch.from_numpy(context)
    return negative_sampling_loss(
        _queries(model, examples)[pairs],
        F.embedding(torch.from_numpy(cited.items.astype(np.int64)), model.targets),
        F.embedding(torch.from_numpy(papers), model.targets),
        torch.from_numpy(weights)[pairs],
    ).mean()
