"""Training of HAtten: Gu, Gao and Hahnloser (ECIR 2022), Sec. 4.3 and 5; see its code for the rest.

A loop is a number of updates by Adam. Beside the weights their moving average is kept; at the end
of a loop it becomes the weights, and with it papers are prefetched for the queries of the next one.
The first loop has no prefetched papers.
"""

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.foundation.ragged_rows import stacked
from mpbert.methods.checkpoint import Checkpoint, State
from mpbert.methods.hatten.documents import Documents
from mpbert.methods.hatten.examples import TrainingQueries
from mpbert.methods.hatten.losses import softmax_loss, triplet_loss
from mpbert.methods.hatten.mining import HARD, OTHERS, Sampling, known_papers, prefetch, sample
from mpbert.methods.hatten.model import HattenEncoder
from mpbert.methods.method import Method
from mpbert.methods.torch_training import TorchLearner, array_of
from mpbert.methods.training import Plan, train

_BETAS = (0.9, 0.999)


def train_encoder(
    encoder: HattenEncoder,
    examples: TrainingQueries,
    settings: Method,
    seed: int,
    checkpoint: Checkpoint | None = None,
) -> int:
    """Train the encoder, which has the moving average in the end; return the number of updates.

    :param settings: those of HAtten.
    :param seed: of all that is sampled.
    :param checkpoint: where to go on, and what to save now and then.
    :raises ConfigError: the loss is no number any more.
    """
    learner = HattenLearner(encoder, examples, settings, seed)
    encoder.train()
    with torch.random.fork_rng():  # dropout has no generator of its own
        updates = train(learner, checkpoint)
    learner.take_average()
    encoder.eval()
    return updates


def _groups(
    encoder: HattenEncoder, learning_rate: float, bag_rate: float
) -> list[dict[str, object]]:
    """Return the parameters and their learning rates: those of the bag have their own."""
    if encoder.bag is None:
        return [{"params": list(encoder.parameters()), "lr": learning_rate}]
    of_bag = [*encoder.bag.parameters(), *encoder.emphasis.parameters()]
    known = {id(parameter) for parameter in of_bag}
    others = [p for p in encoder.parameters() if id(p) not in known]
    return [
        {"params": others, "lr": learning_rate},
        {"params": of_bag, "lr": learning_rate * bag_rate},
    ]


class HattenLearner(TorchLearner):
    """An update a step. What changes: weights, their average, moments of Adam, prefetched lists."""

    def __init__(
        self, encoder: HattenEncoder, examples: TrainingQueries, settings: Method, seed: int
    ) -> None:
        s = settings
        optimizer = torch.optim.Adam(
            _groups(encoder, s.learning_rate, s.bag_rate),
            betas=_BETAS,
            weight_decay=s.weight_decay,
            fused=True,  # one pass over the word vectors, most of which have no gradient
        )
        super().__init__(encoder, [optimizer])
        self.plan = Plan("hatten", s.loops * s.updates, "update", 1, s.updates, s.learning_rate)
        self._examples, self._settings, self._seed = examples, settings, seed
        self._graded, self._bfloat16 = s.margins == "graded", s.precision == "bfloat16"
        self._sampling = Sampling(s.hard, s.easy, HARD if self._graded else OTHERS)
        self.average = {k: p.detach().clone() for k, p in encoder.named_parameters()}
        self.queries = np.zeros(0, dtype=np.int64)  # those of the loop
        self.lists: np.ndarray | None = None  # (queries, K) papers prefetched for them

    def step(self, number: int) -> Iterator[float]:
        """Do an update, the first of a loop after what begins it; yield its loss per query."""
        loop, place = divmod(number, self._settings.updates)
        if place == 0:
            self._begin_loop(np.random.default_rng([self._seed, 1, loop]), loop)
        rng = np.random.default_rng([self._seed, 2, number])
        torch.manual_seed(int(rng.integers(2**63)))
        yield self._update(rng)

    def _begin_loop(self, rng: np.random.Generator, loop: int) -> None:
        """Go on from the average, choose queries, and prefetch papers for them."""
        examples, s = self._examples, self._settings
        self.queries = np.arange(len(examples))
        if loop == 0:
            return
        self.take_average()
        if s.mined < len(examples):
            self.queries = np.sort(rng.choice(len(examples), s.mined, replace=False))
        self.lists = prefetch(
            self.module.embed(examples.queries.take(self.queries), self._bfloat16),
            self.module.embed(examples.papers.take(examples.pool), self._bfloat16),
            examples.pool,
            known_papers(examples, self.queries),
            s.prefetched,
        )

    def _update(self, rng: np.random.Generator) -> float:
        """Learn from one batch; return its loss per query."""
        examples, s = self._examples, self._settings
        size = min(s.batch, len(self.queries))
        places = rng.choice(len(self.queries), size, replace=False)
        queries = self.queries[places]
        lists = None if self.lists is None else self.lists[places]
        papers, levels = sample(examples, queries, lists, self._sampling, rng)
        device = self.module.words.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self._bfloat16):
            read = self.module(self._read(queries, papers))
        asked, found = F.normalize(read, dim=1).split([size, len(papers)])
        table = torch.from_numpy(levels).to(device)
        loss = self.update(self._loss(asked @ found.T, table))
        with torch.no_grad():
            for name, parameter in self.module.named_parameters():
                self.average[name].lerp_(parameter, 1 - s.average)
        return loss / size

    def _read(self, queries: np.ndarray, papers: np.ndarray) -> Documents:
        """Return queries, then papers: a title or an abstract of both is read once."""
        asked = self._examples.queries  # whose words hold those of all papers
        found = self._examples.papers.paragraphs.take(papers)
        paragraphs = stacked([asked.paragraphs.take(queries), found])
        return Documents(asked.words, paragraphs, asked.num_papers)

    def _loss(self, similarities: Tensor, levels: Tensor) -> Tensor:
        s = self._settings
        if s.temperature:
            return softmax_loss(similarities, levels, s.temperature)
        return triplet_loss(similarities, levels, s.margin, self._graded)

    @torch.no_grad()
    def take_average(self) -> None:
        """Make the moving average the weights."""
        for name, parameter in self.module.named_parameters():
            parameter.copy_(self.average[name])

    def state(self) -> State:
        """Return also the average, and the queries of the loop with their lists."""
        found = super().state()
        found.arrays.update(
            {f"average.{name}": array_of(tensor) for name, tensor in self.average.items()}
        )
        found.arrays["loop.queries"] = self.queries
        if self.lists is not None:
            found.arrays["loop.lists"] = self.lists
        return found

    def restore(self, state: State) -> None:
        """Put back all of these."""
        super().restore(state)
        for name, tensor in self.average.items():
            tensor.copy_(torch.tensor(state.arrays[f"average.{name}"]))
        self.queries = state.arrays["loop.queries"]
        self.lists = state.arrays.get("loop.lists")
