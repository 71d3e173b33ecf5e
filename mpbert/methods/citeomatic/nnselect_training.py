"""Training of NNSelect by triplets, and its use; all that is random depends on seed and epoch.

With ``loss=batch``, ours, each query also has the papers of all other triplets of its batch for
negatives, but for those that its manuscript cites:
:func:`mpbert.model.objectives.multi_positive_contrastive`, of one cited paper a query.

A cited paper is read without the sentences of the manuscript that it is sampled for. Another
manuscript of the batch that has a sentence on it cites it, so that it is no negative there.
"""

import logging
from collections.abc import Iterator, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from scipy import sparse
from torch import Tensor

from mpbert.methods.citeomatic.citing_words import CitingWords
from mpbert.methods.citeomatic.field_bags import BagBatch, take_bags
from mpbert.methods.citeomatic.graded_triplets import graded_triplet_loss
from mpbert.methods.citeomatic.nnselect_examples import TripletExamples
from mpbert.methods.citeomatic.triplets import KINDS, Triplets
from mpbert.methods.citeomatic.word_bags import FieldEmbedder, two_adams
from mpbert.methods.method import Method
from mpbert.methods.torch_training import TorchLearner
from mpbert.methods.training import Plan
from mpbert.model.objectives import multi_positive_contrastive
from mpbert.pretrained.device import trained_on

logger = logging.getLogger(__name__)

_BLOCK = 1024  # texts embedded, or compared with all papers, at once


class NNSelectLearner(TorchLearner):
    """An epoch a step: triplets are sampled, then learnt from.

    :param settings: those of NNSelect.
    :param papers: (N, V) counts of each field of all papers.
    :param citing: whose counts the last of these fields are; None: there is no such field.
    :param examples: of one or two tasks; all pairs of a query and a cited paper count alike.
    :param pool: (M,) rows of the training papers.
    :param in_citations: (N,) of the training split.
    :param seed: of all that is sampled.
    """

    def __init__(
        self,
        embedder: FieldEmbedder,
        settings: Method,
        papers: Sequence[sparse.csr_array],
        citing: CitingWords | None,
        examples: Sequence[TripletExamples],
        pool: np.ndarray,
        in_citations: np.ndarray,
        seed: int,
    ) -> None:
        super().__init__(embedder, two_adams(embedder, settings.learning_rate))
        self.plan = Plan.of_epochs(settings, settings.triplets)
        self._embedder, self._settings, self._seed = embedder, settings, seed
        self._examples, self._pool, self._citing = examples, pool, citing
        self._in_citations = torch.from_numpy(in_citations.astype(np.float32))
        texts = zip(papers, *(each.fields for each in examples), strict=True)
        self._fields = [sparse.vstack(field, format="csr") for field in texts]  # papers, queries
        self._num_papers = papers[0].shape[0]
        lengths = [self._num_papers, *map(len, examples)]
        self._firsts = np.cumsum(lengths)[:-1]  # text of the first query of each task
        self._weights = np.array([len(each.sampler.pairs[0]) for each in examples], dtype=float)
        self._weights /= self._weights.sum()

    def step(self, number: int) -> Iterator[float]:
        """Sample the triplets of an epoch and learn from them; all depends on seed and epoch.

        :raises CorpusError: there are none.
        """
        rng = np.random.default_rng([self._seed, number])
        triplets = self.sample(self._settings.triplets, rng)
        parts = triplets.split(self.plan.updates_per_step)
        shares = np.bincount(triplets.kinds, minlength=len(KINDS)) / len(triplets)
        logger.info("negatives: random, near, cited by cited: %s", np.round(shares, 3))
        for part in parts:
            yield self.update(self._loss(part, rng))

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

    def _loss(self, triplets: Triplets, rng: np.random.Generator) -> Tensor:
        texts, manuscripts, places = self.texts_of(triplets)
        bags = self.bags_of(texts, manuscripts, rng)
        vectors = self._embedder(bags)
        if self._settings.loss == "batch":
            loss = self._batch_loss(triplets, texts, places, vectors)
        else:
            loss = self._triplet_loss(triplets, places, vectors)
        if self._settings.l1:
            loss = loss + self._settings.l1 * self._embedder.words.penalty(bags)
        return loss

    def texts_of(self, triplets: Triplets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the distinct texts of triplets, and where they stand.

        :returns: (U,) texts; (U,) row of the manuscript whose sentences the text is read without,
            -1 for none; (3, T) places of queries, positives and negatives among them.
        """
        texts = np.stack([triplets.queries, triplets.positives, triplets.negatives])
        manuscripts = np.full_like(texts, -1)
        if self._citing is not None:
            known = np.concatenate([each.manuscripts for each in self._examples])
            manuscripts[1] = known[triplets.queries - self._num_papers]
        size = self._num_papers + 1
        keys, places = np.unique(texts * size + manuscripts + 1, return_inverse=True)
        return keys // size, keys % size - 1, places.reshape(texts.shape)

    def bags_of(
        self, texts: np.ndarray, manuscripts: np.ndarray, rng: np.random.Generator
    ) -> BagBatch:
        """Return the bags of some texts, as :meth:`texts_of` returns them, with dropout."""
        fields = [field[texts] for field in self._fields]
        if self._citing is not None:
            papers = np.minimum(texts, self._num_papers - 1)  # a query has no manuscript here
            fields[-1] = (fields[-1] - self._citing.of_manuscripts(manuscripts, papers)).tocsr()
            fields[-1].eliminate_zeros()
        return take_bags(fields, np.arange(len(texts)), self._settings.word_dropout, rng)

    def is_known(self, queries: np.ndarray, papers: np.ndarray) -> np.ndarray:
        """Return (T, U) whether each paper is never a negative of a query.

        :param queries: (T,) texts; ``papers`` (U,) rows.
        """
        known = np.zeros((len(queries), len(papers)), dtype=bool)
        for each, first in zip(self._examples, self._firsts, strict=True):
            own = np.flatnonzero((queries >= first) & (queries < first + len(each)))
            pairs = np.broadcast_arrays(queries[own, None] - first, papers)
            known[own] = each.sampler.is_excluded(*pairs)
        return known

    def _batch_loss(
        self, triplets: Triplets, texts: np.ndarray, places: np.ndarray, vectors: Tensor
    ) -> Tensor:
        papers = np.unique(places[1:])
        known = self.is_known(triplets.queries, texts[papers])
        parts = places[0], papers, papers == places[1][:, None], known
        queries, papers, is_positive, is_known = (
            torch.from_numpy(part).to(vectors.device) for part in parts
        )
        cosines = F.embedding(queries, vectors) @ F.embedding(papers, vectors).T
        logits = cosines / self._settings.temperature
        return multi_positive_contrastive(logits, is_positive, is_known).mean()

    def _triplet_loss(self, triplets: Triplets, places: np.ndarray, vectors: Tensor) -> Tensor:
        s, device = self._settings, vectors.device
        query, positive, negative = F.embedding(torch.from_numpy(places).to(device), vectors)
        return graded_triplet_loss(
            (query * positive).sum(dim=1),
            (query * negative).sum(dim=1),
            torch.from_numpy(triplets.kinds).to(device),
            self._in_citations[triplets.positives].to(device),
            self._in_citations[triplets.negatives].to(device),
            s.margin,
            s.boost,
        ).mean()


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
