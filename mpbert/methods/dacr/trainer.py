"""Training of DACR's network by negative sampling, and its use."""

import logging

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.training_log import loss_fields
from mpbert.methods.dacr.examples import Examples, Ragged
from mpbert.methods.dacr.model import DualAttention, Elements, negative_sampling_loss

logger = logging.getLogger(__name__)
_POWER = 0.75  # of citation counts, the noise distribution of word2vec


def train(
    model: DualAttention,
    examples: Examples,
    cited: Ragged,
    rng: np.random.Generator,
    negatives: int,
    noise_weight: float,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    word_dropout: float,
    known_dropout: float,
) -> None:
    """Train all parameters of the model by Adam.

    :param examples: the training contexts.
    :param cited: rows of the papers that each of them cites.
    :param negatives: noise papers drawn for a batch; ``noise_weight``: that of all of them.
    """
    noise = np.bincount(cited.items, minlength=len(model.targets)) ** _POWER
    noise /= noise.sum()
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    num_batches = -(-len(examples) // batch_size)
    rates = np.linspace(learning_rate, 0, epochs * num_batches, endpoint=False)
    for epoch in progress(range(epochs), "dacr", "epoch"):
        total = 0.0
        batches = np.array_split(rng.permutation(len(examples)), num_batches)
        for rows, rate in zip(batches, rates[epoch * num_batches :], strict=False):
            seen = examples.take(rows).thinned(word_dropout, known_dropout, rng)
            drawn = rng.choice(len(noise), negatives, p=noise)
            loss = _loss(model, seen, cited.take(rows), drawn, noise_weight / negatives)
            optimizer.zero_grad()
            loss.backward()
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()
            total += float(loss.detach()) * len(rows)
        loss = total / len(examples)
        logger.info(
            "dacr: epoch %d of %d, loss %.4f",
            *(epoch + 1, epochs, loss),
            extra=loss_fields("dacr", (epoch + 1) * num_batches, loss),
        )


@torch.no_grad()
def embed(model: DualAttention, examples: Examples, batch_size: int) -> np.ndarray:
    """Return (Q, D) query vectors."""
    queries = [np.zeros((0, model.targets.shape[1]), dtype=np.float32)]
    for start in range(0, len(examples), batch_size):
        rows = np.arange(start, min(start + batch_size, len(examples)))
        queries.append(_queries(model, examples.take(rows)).numpy())
    return np.concatenate(queries)


def _queries(model: DualAttention, examples: Examples) -> Tensor:
    return model(Elements.of(examples.words), Elements.of(examples.known), len(examples))


def _loss(
    model: DualAttention, examples: Examples, cited: Ragged, drawn: np.ndarray, weight: float
) -> Tensor:
    """Return the mean loss of all pairs of a context and a paper it cites.

    :param drawn: rows of the noise papers, with repetitions; each has this weight.
    """
    papers, times = np.unique(drawn, return_counts=True)
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
