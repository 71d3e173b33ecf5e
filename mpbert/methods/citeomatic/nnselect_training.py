"""Training of NNSelect by triplets, and its use; all that is random depends on seed and epoch."""

import logging
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from scipy import sparse

from mpbert.methods.citeomatic.field_bags import take_bags
from mpbert.methods.citeomatic.graded_triplets import TripletSettings, graded_triplet_loss
from mpbert.methods.citeomatic.nnselect_examples import TripletExamples
from mpbert.methods.citeomatic.triplets import KINDS, Triplets
from mpbert.methods.citeomatic.word_bags import FieldEmbedder, TwoAdams
from mpbert.methods.torch_training import TorchLearner
from mpbert.methods.training import Plan
from mpbert.pretrained.device import trained_on

logger = logging.getLogger(__name__)

_BLOCK = 1024  # texts embedded, or compared with all papers, at once


class NNSelectSettings(TripletSettings, Protocol):
    """What the training reads of the settings of NNSelect."""

    neighbours: int
    percentile: float


class NNSelectLearner(TorchLearner):
    """An epoch a step: triplets are sampled, then learnt from.

    :param papers: (N, V) counts of each field of all papers.
    :param examples: of one or two tasks; all pairs of a query and a cited paper count alike.
    :param pool: (M,) rows of the training papers.
    :param in_citations: (N,) of the training split.
    :param seed: of all that is sampled.
    """

    def __init__(
        self,
        embedder: FieldEmbedder,
        settings: NNSelectSettings,
        papers: Sequence[sparse.csr_array],
        examples: Sequence[TripletExamples],
        pool: np.ndarray,
        in_citations: np.ndarray,
        seed: int,
    ) -> None:
        self._optimizer = TwoAdams(embedder, settings.learning_rate)
        super().__init__(embedder, self._optimizer.parts)
        self._embedder, self._settings, self._seed = embedder, settings, seed
        self._examples, self._pool = examples, pool
        self._in_citations = torch.from_numpy(in_citations.astype(np.float32))
        texts = zip(papers, *(each.fields for each in examples), strict=True)
        self._fields = [sparse.vstack(field, format="csr") for field in texts]  # papers, queries
        lengths = [papers[0].shape[0], *map(len, examples)]
        self._firsts = np.cumsum(lengths)[:-1]  # text of the first query of each task
        self._weights = np.array([len(each.sampler.pairs[0]) for each in examples], dtype=float)
        self._weights /= self._weights.sum()

    def plan(self) -> Plan:
        """Return how long the training is."""
        s = self._settings
        num_updates = -(-s.triplets // s.batch)
        return Plan("nnselect", s.epochs, "epoch", num_updates, learning_rate=s.learning_rate)

    def step(self, number: int) -> Iterator[float]:
        """Sample the triplets of an epoch and learn from them; all depends on seed and epoch."""
        rng = np.random.default_rng([self._seed, number])
        triplets = self.sample(self._settings.triplets, rng)
        shares = np.bincount(triplets.kinds, minlength=len(KINDS)) / len(triplets)
        logger.info("negatives: random, near, cited by cited: %s", np.round(shares, 3))
        for part in np.array_split(np.arange(len(triplets)), self.plan().updates_per_step):
            yield self._update(triplets.take(part), rng)

    def sample(self, num: int, rng: np.random.Generator) -> Triplets:
        """Return triplets whose queries are texts; near papers are those of the present vectors."""
        parts = []
        vectors = embed(self._embedder, self._fields, self._pool)
        for share, each, first in zip(
            rng.multinomial(num, self._weights), self._examples, self._firsts, strict=True
        ):
            near = np.zeros((len(each), 0), dtype=np.int64)
            if self._settings.neighbours:
                queries = embed(self._embedder, self._fields, first + np.arange(len(each)))
                near = self._pool[nearest(queries, vectors, self._settings.neighbours)]
            found = each.sampler.sample(share, rng, near, each.is_unlike)
            parts.append(found.shifted(first))
        joined = Triplets.joined(parts)
        return joined.take(rng.permutation(len(joined)))

    def _update(self, triplets: Triplets, rng: np.random.Generator) -> float:
        s, device = self._settings, self._embedder.scalars.device
        papers = triplets.queries, triplets.positives, triplets.negatives
        texts, places = np.unique(np.concatenate(papers), return_inverse=True)
        bags = take_bags(self._fields, texts, s.word_dropout, rng)
        vectors = F.embedding(torch.from_numpy(places).to(device), self._embedder(bags))
        query, positive, negative = vectors.unflatten(0, (3, -1))
        loss = graded_triplet_loss(
            (query * positive).sum(dim=1),
            (query * negative).sum(dim=1),
            torch.from_numpy(triplets.kinds).to(device),
            self._in_citations[triplets.positives].to(device),
            self._in_citations[triplets.negatives].to(device),
            s.margin,
            s.boost,
        ).mean()
        if s.l1:
            loss = loss + s.l1 * self._embedder.words.penalty(bags)
        loss.backward()
        self._optimizer.step()
        return loss.item()


@torch.no_grad()
def embed(
    embedder: FieldEmbedder, fields: Sequence[sparse.csr_array], rows: np.ndarray
) -> np.ndarray:
    """Return (B, D) float32 vectors of texts, of length 1; zeros for a text without words.

    :param fields: (M, V) counts of each field.
    :param rows: (B,) texts.
    """
    vectors = np.empty((len(rows), embedder.words.directions.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        vectors[block] = embedder(take_bags(fields, rows[block])).cpu().numpy()
    return vectors


def nearest(queries: np.ndarray, papers: np.ndarray, k: int) -> np.ndarray:
    """Return (Q, K) rows of the papers with the largest inner products, in no order.

    :param queries: (Q, D); ``papers`` (M, D).
    """
    device = trained_on()
    pool = torch.from_numpy(papers).to(device).T
    parts = []
    for start in range(0, len(queries), _BLOCK):
        scores = torch.from_numpy(queries[start : start + _BLOCK]).to(device) @ pool
        parts.append(scores.topk(min(k, len(papers)), sorted=False).indices.cpu().numpy())
    return np.concatenate(parts)
