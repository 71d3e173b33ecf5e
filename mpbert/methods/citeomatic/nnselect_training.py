"""Training of NNSelect by triplets, and its use; all that is random depends on seed and epoch."""

import logging
import math
import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from scipy import sparse

from mpbert.corpus.store import Queries
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.progress import progress
from mpbert.foundation.training_log import loss_fields
from mpbert.methods.checkpoint import EpochCheckpoint
from mpbert.methods.citeomatic.field_bags import jaccard_similarity, take_bags
from mpbert.methods.citeomatic.graded_triplets import TripletSettings, graded_triplet_loss
from mpbert.methods.citeomatic.triplets import (
    KINDS,
    Triplets,
    TripletSampler,
    cited_matrix,
    percentile_per_row,
)
from mpbert.methods.citeomatic.word_bags import FieldEmbedder, TwoAdams

logger = logging.getLogger(__name__)

SAVE_SECONDS = 60.0  # between two checkpoints, at least; they are made at the end of an epoch
_BLOCK = 1024  # texts embedded, or compared with all papers, at once


class Settings(TripletSettings, Protocol):
    """What the training reads of the settings of NNSelect."""

    neighbours: int
    percentile: float


class Examples:
    """Training queries of one task, with what may be drawn for them.

    :param fields: (Q, V) counts of each field of the queries.
    :param papers: (N, V) counts of each field of all papers.
    :param citations: (N, N) of training papers: row cites column.
    :param pool: (M,) rows of the training papers.
    :param percentile: 0 to 100, see the rule of App. C.
    """

    def __init__(
        self,
        queries: Queries,
        fields: Sequence[sparse.csr_array],
        papers: Sequence[sparse.csr_array],
        citations: sparse.csr_array,
        pool: np.ndarray,
        percentile: float,
    ) -> None:
        self.fields = fields
        cited = cited_matrix(queries, citations.shape[0])
        self.sampler = TripletSampler(cited, queries.citing_rows, citations, pool, whole=True)
        self._words = sum(fields).tocsr(), sum(papers).tocsr()
        query, paper = self.sampler.pairs
        order = np.argsort(query, kind="stable")
        lengths = np.bincount(query, minlength=len(queries))
        similarities = jaccard_similarity(*self._words, query[order], paper[order])
        self._limits = percentile_per_row(similarities, lengths, percentile)

    def __len__(self) -> int:
        return len(self._limits)

    def is_unlike(self, query: np.ndarray, paper: np.ndarray) -> np.ndarray:
        """Return (P,) whether a neighbour shares few enough words with the query: App. C."""
        return jaccard_similarity(*self._words, query, paper) < self._limits[query]


class Trainer:
    """The loop of epochs.

    :param papers: (N, V) counts of each field of all papers.
    :param examples: of one or two tasks; all pairs of a query and a cited paper count alike.
    :param pool: (M,) rows of the training papers.
    :param in_citations: (N,) of the training split.
    :param seed: of all that is drawn.
    """

    def __init__(
        self,
        embedder: FieldEmbedder,
        settings: Settings,
        papers: Sequence[sparse.csr_array],
        examples: Sequence[Examples],
        pool: np.ndarray,
        in_citations: np.ndarray,
        seed: int,
    ) -> None:
        self._embedder, self._settings, self._seed = embedder, settings, seed
        self._examples, self._pool = examples, pool
        self._in_citations = torch.from_numpy(in_citations.astype(np.float32))
        texts = zip(papers, *(each.fields for each in examples), strict=True)
        self._fields = [sparse.vstack(field, format="csr") for field in texts]  # papers, queries
        lengths = [papers[0].shape[0], *map(len, examples)]
        self._firsts = np.cumsum(lengths)[:-1]  # text of the first query of each task
        self._weights = np.array([len(each.sampler.pairs[0]) for each in examples], dtype=float)
        self._weights /= self._weights.sum()

    def run(self, checkpoint: EpochCheckpoint | None = None) -> int:
        """Train; return the number of updates.

        :raises ConfigError: the loss is no number any more.
        """
        s = self._settings
        optimizer = TwoAdams(self._embedder, s.learning_rate)
        start = checkpoint.load(self._embedder, optimizer.parts) if checkpoint else 0
        saved = time.monotonic()
        for epoch in progress(range(start, s.epochs), "nnselect", "epoch"):
            rng = np.random.default_rng([self._seed, epoch])
            triplets = self.draw(s.triplets, rng)
            losses = []
            for part in np.array_split(np.arange(len(triplets)), self._num_updates):
                losses.append(self._update(triplets.take(part), optimizer, rng))
                if not math.isfinite(losses[-1]):
                    raise ConfigError(
                        f"learning_rate={s.learning_rate:g}: the loss is {losses[-1]} in epoch "
                        f"{epoch + 1} of {s.epochs}; expected a number, choose a lower rate"
                    )
            shares = np.bincount(triplets.kinds, minlength=len(KINDS)) / len(triplets)
            logger.info(
                "nnselect: epoch %d of %d, loss %.4f; random, near, cited by cited: %s",
                *(epoch + 1, s.epochs, np.mean(losses), np.round(shares, 3)),
                extra=loss_fields("nnselect", (epoch + 1) * self._num_updates, np.mean(losses)),
            )
            if checkpoint and time.monotonic() - saved >= SAVE_SECONDS:
                checkpoint.save(self._embedder, optimizer.parts, epoch + 1)
                saved = time.monotonic()
        return self._num_updates * s.epochs

    @property
    def _num_updates(self) -> int:
        return -(-self._settings.triplets // self._settings.batch)

    def draw(self, num: int, rng: np.random.Generator) -> Triplets:
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
            drawn = each.sampler.draw(share, rng, near, each.is_unlike)
            parts.append(drawn.shifted(first))
        joined = Triplets.joined(parts)
        return joined.take(rng.permutation(len(joined)))

    def _update(self, triplets: Triplets, optimizer: TwoAdams, rng: np.random.Generator) -> float:
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
        optimizer.step()
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
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pool = torch.from_numpy(papers).to(device).T
    parts = []
    for start in range(0, len(queries), _BLOCK):
        scores = torch.from_numpy(queries[start : start + _BLOCK]).to(device) @ pool
        parts.append(scores.topk(min(k, len(papers)), sorted=False).indices.cpu().numpy())
    return np.concatenate(parts)
