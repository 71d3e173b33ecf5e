"""Training of NNRank by triplets; all that is random depends on seed and epoch."""

import logging
import math
import time

import numpy as np
import torch
from torch import Tensor

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.progress import progress
from mpbert.foundation.training_log import loss_fields
from mpbert.methods.checkpoint import EpochCheckpoint
from mpbert.methods.citeomatic.field_bags import take_bags
from mpbert.methods.citeomatic.graded_triplets import TripletSettings, graded_triplet_loss
from mpbert.methods.citeomatic.nnrank_features import Inputs
from mpbert.methods.citeomatic.nnrank_model import (
    PairScorer,
    cosines_of,
    field_vectors,
    shared_and_numbers,
)
from mpbert.methods.citeomatic.triplets import Triplets, TripletSampler
from mpbert.methods.citeomatic.word_bags import TwoAdams

logger = logging.getLogger(__name__)

SAVE_SECONDS = 60.0  # between two checkpoints, at least; they are made at the end of an epoch


def train(
    scorer: PairScorer,
    settings: TripletSettings,
    inputs: Inputs,
    sampler: TripletSampler,
    near: np.ndarray,
    seed: int,
    checkpoint: EpochCheckpoint | None = None,
) -> int:
    """Train all parameters; return the number of updates.

    :param near: (Q, K) rows of the papers that were ranked for the queries; -1 for none.
    :raises ConfigError: the loss is no number any more.
    """
    num_updates = -(-settings.triplets // settings.batch)
    optimizer = TwoAdams(scorer, settings.learning_rate)
    start = checkpoint.load(scorer, optimizer.parts) if checkpoint else 0
    saved = time.monotonic()
    for epoch in progress(range(start, settings.epochs), "nnrank", "epoch"):
        rng = np.random.default_rng([seed, epoch])
        triplets = sampler.draw(settings.triplets, rng, near)
        losses = []
        for part in np.array_split(np.arange(len(triplets)), num_updates):
            loss = loss_of(scorer, settings, inputs, triplets.take(part), rng)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise ConfigError(
                    f"learning_rate={settings.learning_rate:g}: the loss is {losses[-1]} in epoch "
                    f"{epoch + 1} of {settings.epochs}; expected a number, choose a lower rate"
                )
        logger.info(
            "nnrank: epoch %d of %d, loss %.4f",
            *(epoch + 1, settings.epochs, np.mean(losses)),
            extra=loss_fields("nnrank", (epoch + 1) * num_updates, np.mean(losses)),
        )
        if checkpoint and time.monotonic() - saved >= SAVE_SECONDS:
            checkpoint.save(scorer, optimizer.parts, epoch + 1)
            saved = time.monotonic()
    return num_updates * settings.epochs


def loss_of(
    scorer: PairScorer,
    settings: TripletSettings,
    inputs: Inputs,
    triplets: Triplets,
    rng: np.random.Generator,
) -> Tensor:
    """Return the mean loss of triplets by the probabilities of their pairs, with the penalty."""
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
    positive, negative = torch.sigmoid(odds).unflatten(0, (2, -1))
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
