"""Training of NNRank by triplets; all that is random depends on seed and epoch."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from mpbert.methods.citeomatic.field_bags import take_bags
from mpbert.methods.citeomatic.graded_triplets import graded_triplet_loss
from mpbert.methods.citeomatic.nnrank_features import PairFeatures
from mpbert.methods.citeomatic.nnrank_model import (
    FeatureScorer,
    cosines_of,
    field_vectors,
    shared_and_numbers,
)
from mpbert.methods.citeomatic.triplets import Triplets, TripletSampler
from mpbert.methods.citeomatic.word_bags import two_adams
from mpbert.methods.method import Method
from mpbert.methods.torch_training import TorchLearner
from mpbert.methods.training import Plan


class NNRankLearner(TorchLearner):
    """An epoch a step: triplets are sampled, then learnt from.

    :param settings: those of NNRank.
    :param near: (Q, K) rows of the papers that were ranked for the queries; -1 for none.
    :param seed: of all that is sampled.
    """

    def __init__(
        self,
        scorer: FeatureScorer,
        settings: Method,
        inputs: PairFeatures,
        sampler: TripletSampler,
        near: np.ndarray,
        seed: int,
    ) -> None:
        super().__init__(scorer, two_adams(scorer, settings.learning_rate))
        self._settings, self._inputs, self._seed = settings, inputs, seed
        self._sampler, self._near = sampler, near
        self.plan = Plan.of_epochs(settings, settings.triplets)

    def step(self, number: int) -> Iterator[float]:
        """Sample the triplets of an epoch and learn from them; all depends on seed and epoch.

        :raises CorpusError: there are none.
        """
        rng = np.random.default_rng([self._seed, number])
        triplets = self._sampler.sample(self._settings.triplets, rng, self._near)
        updates = self.plan.updates_per_step
        for i, part in enumerate(triplets.split(updates), number * updates):
            # the rate falls in even steps towards 0
            self.set_rate(self._settings.learning_rate * (1 - i / self.plan.num_updates))
            yield self.update(loss_of(self.module, self._settings, self._inputs, part, rng))


def loss_of(
    scorer: FeatureScorer,
    settings: Method,
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
