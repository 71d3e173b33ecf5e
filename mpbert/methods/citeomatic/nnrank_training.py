"""Training of NNRank by triplets; all that is random depends on seed and epoch."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from mpbert.methods.citeomatic.field_bags import take_bags
from mpbert.methods.citeomatic.graded_triplets import TripletSettings, graded_triplet_loss
from mpbert.methods.citeomatic.nnrank_features import PairFeatures
from mpbert.methods.citeomatic.nnrank_model import (
    FeatureScorer,
    cosines_of,
    field_vectors,
    shared_and_numbers,
)
from mpbert.methods.citeomatic.triplets import Triplets, TripletSampler
from mpbert.methods.citeomatic.word_bags import TwoAdams
from mpbert.methods.torch_training import TorchLearner
from mpbert.methods.training import Plan


class NNRankSettings(TripletSettings, Protocol):
    """What the training reads of the settings of NNRank."""

    loss: str


class NNRankLearner(TorchLearner):
    """An epoch a step: triplets are sampled, then learnt from.

    :param near: (Q, K) rows of the papers that were ranked for the queries; -1 for none.
    :param seed: of all that is sampled.
    """

    def __init__(
        self,
        scorer: FeatureScorer,
        settings: NNRankSettings,
        inputs: PairFeatures,
        sampler: TripletSampler,
        near: np.ndarray,
        seed: int,
    ) -> None:
        self._optimizer = TwoAdams(scorer, settings.learning_rate)
        super().__init__(scorer, self._optimizer.parts)
        self._settings, self._inputs, self._seed = settings, inputs, seed
        self._sampler, self._near = sampler, near

    def plan(self) -> Plan:
        """Return how long the training is."""
        s = self._settings
        num_updates = -(-s.triplets // s.batch)
        return Plan("nnrank", s.epochs, "epoch", num_updates, learning_rate=s.learning_rate)

    def step(self, number: int) -> Iterator[float]:
        """Sample the triplets of an epoch and learn from them; all depends on seed and epoch.

        :raises CorpusError: there are none.
        """
        rng = np.random.default_rng([self._seed, number])
        triplets = self._sampler.sample(self._settings.triplets, rng, self._near)
        updates = self.plan().updates_per_step
        for i, part in enumerate(triplets.split(updates)):
            self._optimizer.set_rate(self._rate(number * updates + i))
            loss = loss_of(self.module, self._settings, self._inputs, part, rng)
            loss.backward()
            self._optimizer.step()
            yield loss.item()

    def _rate(self, update: int) -> float:
        """Return the learning rate of an update, which falls in even steps towards 0."""
        s, plan = self._settings, self.plan()
        return s.learning_rate * (1 - update / (s.epochs * plan.updates_per_step))


def loss_of(
    scorer: FeatureScorer,
    settings: NNRankSettings,
    inputs: PairFeatures,
    triplets: Triplets,
    rng: np.random.Generator,
) -> Tensor:
    """Return the mean loss of triplets by the scores of their pairs, with the penalty.

    Scores are probabilities, or the logarithms of their odds, as the settings say.
    """
    device = scorer.shared.device
    query = np.tile(triplets.queries, 2)
    paper = np.concatenate([triplets.positives, triplets.negatives])
    texts, places = np.unique([inputs.num_papers + query, paper], return_inverse=True)
    bags = take_bags(inputs.texts, texts, settings.word_dropout, rng)
    fields = field_vectors(scorer.words, bags, len(inputs.texts))
    papers, of_paper = np.unique([inputs.citing_rows[query], paper], return_inverse=True)
    names = [
        field_vectors(part, take_bags([matrix], papers), 1)[0]
        for part, matrix in zip(scorer.names, inputs.names, strict=True)
    ]
    place = [torch.from_numpy(each.reshape(2, -1)).to(device) for each in (places, of_paper)]
    cosines = cosines_of(fields, names, inputs, *place)
    odds = scorer(cosines, *shared_and_numbers(inputs, query, paper, device))
    scores = odds if settings.loss == "odds" else torch.sigmoid(odds)
    positive, negative = scores.unflatten(0, (2, -1))
    citations = torch.from_numpy(inputs.in_citations[paper].astype(np.float32)).to(device)
    loss = graded_triplet_loss(
        positive,
        negative,
        torch.from_numpy(triplets.kinds).to(device),
        *citations.unflatten(0, (2, -1)),
        settings.margin,
        settings.boost,
    ).mean()
    return loss + settings.l1 * scorer.words.penalty(bags) if settings.l1 else loss
