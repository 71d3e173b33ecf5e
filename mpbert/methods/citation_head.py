"""Linear maps of finished vectors, learnt from citations with all training papers as negatives.

    q = unit(A q(c) + B a(m))           of a context c of the manuscript m
    q = unit(E a(m))                    of a whole manuscript
    v(p) = unit(C a(p) + D unit(Σ_c q(c)))

where a is the unit vector of title and abstract, q(c) that of a context, and the sum runs over the
training contexts that cite p. A and C to E start as the identity, B as a part of it. A text is read
once, before; the maps then learn from all contexts in minutes, where an update of a transformer
sees the papers of a batch alone:

    loss = mean_p log(1 + Σ_n e^((cos(q, n) - cos(q, p)) / τ))

over the papers p that a query cites, where n are all training papers that it does not cite and that
its manuscript could have cited: those of its year or earlier. A sum holds no context of a
manuscript of the batch: at test time the query's manuscript is unknown to all papers. Contexts and
manuscripts are learnt side by side; the sum of their losses is minimised.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.methods.checkpoint import Checkpoint
from mpbert.methods.fine_tuning import FineTuningSchedule
from mpbert.methods.torch_training import TorchLearner
from mpbert.methods.training import Plan, train

_ABSTRACT = 0.3  # of the identity, where B starts
_TEMPERATURE = 0.05
_MOST_PAPERS = 1 << 15  # of which an update computes scores


class CitationHead(nn.Module):
    """The maps, which take unit vectors.

    :param dim: of all vectors.
    :param reads_manuscript: whether the query of a context has its manuscript's part.
    """

    def __init__(self, dim: int, reads_manuscript: bool) -> None:
        super().__init__()
        self.context, self.whole, self.paper, self.citing = (
            nn.Parameter(torch.eye(dim)) for _ in range(4)
        )
        self.manuscript = nn.Parameter(_ABSTRACT * torch.eye(dim)) if reads_manuscript else None

    def of_contexts(self, contexts: Tensor, manuscripts: Tensor) -> Tensor:
        """Return (B, D) queries of contexts and their manuscripts, (B, D) each."""
        found = contexts @ self.context
        if self.manuscript is not None:
            found = found + manuscripts @ self.manuscript
        return F.normalize(found, dim=1)

    def of_manuscripts(self, manuscripts: Tensor) -> Tensor:
        """Return (B, D) queries of whole manuscripts, (B, D)."""
        return F.normalize(manuscripts @ self.whole, dim=1)

    def of_papers(self, papers: Tensor, sums: Tensor) -> Tensor:
        """Return (N, D) papers from those of titles and abstracts and sums of contexts."""
        return F.normalize(papers @ self.paper + F.normalize(sums, dim=1) @ self.citing, dim=1)


def citation_loss(scores: Tensor, cited: tuple[Tensor, Tensor], is_known: Tensor) -> Tensor:
    """Return the module's loss, a mean over queries.

    :param scores: (B, N) of queries and papers, cosines over the temperature.
    :param cited: (P,) numbers of queries, ascending, and (P,) of papers that they cite.
    :param is_known: (B, N), papers that are no negatives, those which are cited among them.
    """
    queries, papers = cited
    others = scores.masked_fill(is_known, float("-inf")).logsumexp(dim=1)
    losses = F.softplus(others[queries] - scores[queries, papers])
    counts = torch.bincount(queries, minlength=len(scores)).clamp(min=1)
    return (losses / counts[queries]).sum() / len(scores)


@dataclass(frozen=True)
class Citing:
    """Training queries with what they cite among training papers.

    :param manuscripts: (Q,) row of the manuscript of each.
    :param numbers: (Q,) which query of the split each is.
    :param offsets: (Q + 1,) of ``cited``; a query cites one or more.
    """

    manuscripts: np.ndarray
    numbers: np.ndarray
    offsets: np.ndarray
    cited: np.ndarray

    @classmethod
    def of(cls, queries: Queries, is_training: np.ndarray) -> "Citing":
        """Return the queries that cite training papers.

        :param is_training: (N,) of papers.
        """
        known = is_training[queries.cited_rows]
        owners = row_numbers(np.diff(queries.cited_offsets))[known]
        counts = np.bincount(owners, minlength=len(queries))
        numbers = np.flatnonzero(counts)
        cited = queries.cited_rows[known]
        return cls(queries.citing_rows[numbers], numbers, offsets_of(counts[numbers]), cited)

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, places: np.ndarray) -> "Citing":
        """Return some of them."""
        counts = np.diff(self.offsets)[places]
        cited = self.cited[ranges(self.offsets[places], counts)]
        return Citing(self.manuscripts[places], self.numbers[places], offsets_of(counts), cited)


class CitingSums:
    """The sums of vectors of the training contexts that cite each paper.

    :param contexts: (C, D) unit vectors of the training contexts of the corpus.
    """

    def __init__(self, store: CorpusStore, contexts: Tensor) -> None:
        training = store.contexts("train")
        self.contexts, self._training = contexts, training
        self._owners = row_numbers(np.diff(training.cited_offsets))
        self.all = torch.zeros(store.num_papers, contexts.shape[1])
        self._add(self.all, np.arange(len(self._owners)), 1)
        self.counts = np.bincount(training.cited_rows, minlength=store.num_papers)

    def without(self, manuscripts: np.ndarray) -> Tensor:
        """Return (N, D) sums that hold no context of some manuscripts; 0 where none is left.

        :param manuscripts: rows of papers, each once.
        """
        citing = self._training.citing_rows  # ascending
        first = np.searchsorted(citing, manuscripts, "left")
        contexts = ranges(first, np.searchsorted(citing, manuscripts, "right") - first)
        starts = self._training.cited_offsets[contexts]
        pairs = ranges(starts, self._training.cited_offsets[contexts + 1] - starts)
        sums = self.all.clone()
        self._add(sums, pairs, -1)
        dropped = np.bincount(self._training.cited_rows[pairs], minlength=len(sums))
        sums[torch.from_numpy(self.counts == dropped)] = 0
        return sums

    def _add(self, sums: Tensor, pairs: np.ndarray, sign: int) -> None:
        rows = torch.from_numpy(self._training.cited_rows[pairs].astype(np.int64))
        sums.index_add_(0, rows, self.contexts[torch.from_numpy(self._owners[pairs])], alpha=sign)


def learn_head(
    head: CitationHead,
    store: CorpusStore,
    papers: Tensor,
    sums: CitingSums,
    schedule: FineTuningSchedule,
    seed: int,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Learn the maps from all training contexts and manuscripts.

    :param papers: (N, D) unit vectors of titles and abstracts.
    :param schedule: its batch counts contexts.
    :raises CorpusError: there is nothing to learn from.
    :raises ConfigError: the loss is no number any more.
    """
    learner = _HeadLearning(head, store, papers, sums, schedule, seed)
    plan = Plan(
        "head",
        schedule.epochs * learner.per_epoch,
        unit="update",
        steps_per_line=learner.per_epoch,
        learning_rate=schedule.learning_rate,
    )
    train(learner, plan, checkpoint)


class _HeadLearning(TorchLearner):
    """An update a step; contexts and manuscripts of an epoch have a random order."""

    def __init__(
        self,
        head: CitationHead,
        store: CorpusStore,
        papers: Tensor,
        sums: CitingSums,
        schedule: FineTuningSchedule,
        seed: int,
    ) -> None:
        super().__init__(head, [torch.optim.Adam(head.parameters())])
        self._head, self._papers, self._sums = head, papers, sums
        self._years = torch.from_numpy(store.years.astype(np.int64))
        is_training = store.paper_splits == "train"
        self._pool = np.flatnonzero(is_training)
        self._local, self._whole = (
            Citing.of(queries, is_training)
            for queries in (store.contexts("train"), store.manuscripts("train"))
        )
        if len(self._local) < 2:
            raise CorpusError(
                f"{store.path}: found {len(self._local)} training contexts that cite training "
                f"papers; expected 2 or more: choose other years, or --settings head_epochs=0"
            )
        self._schedule, self._seed = schedule, seed
        self.per_epoch = -(-len(self._local) // schedule.batch)

    def step(self, number: int) -> Iterator[float]:
        """Do an update."""
        (optimizer,) = self.optimizers
        epoch, place = divmod(number, self.per_epoch)
        local, whole = (
            queries.take(np.array_split(rng.permutation(len(queries)), self.per_epoch)[place])
            for queries, rng in (
                (self._local, np.random.default_rng([self._seed, epoch, 0])),
                (self._whole, np.random.default_rng([self._seed, epoch, 1])),
            )
        )
        for group in optimizer.param_groups:
            group["lr"] = self._schedule.rate(number, self._schedule.epochs * self.per_epoch)
        loss = self._loss(local, whole, np.random.default_rng([self._seed, epoch, 2, place]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()

    def _loss(self, local: Citing, whole: Citing, rng: np.random.Generator) -> Tensor:
        manuscripts = np.unique(np.concatenate([local.manuscripts, whole.manuscripts]))
        rows = self._candidates(np.concatenate([local.cited, whole.cited]), rng)
        places = torch.from_numpy(rows)
        papers = self._head.of_papers(self._papers[places], self._sums.without(manuscripts)[places])
        contexts = self._sums.contexts[torch.from_numpy(local.numbers)]
        of_local, of_whole = (
            self._papers[torch.from_numpy(q.manuscripts.astype(np.int64))] for q in (local, whole)
        )
        asked = [(local, self._head.of_contexts(contexts, of_local))]
        if len(whole):
            asked.append((whole, self._head.of_manuscripts(of_whole)))
        losses = []
        for queries, vectors in asked:
            cited, is_known = self._known(queries, rows)
            losses.append(citation_loss(vectors @ papers.T / _TEMPERATURE, cited, is_known))
        return torch.stack(losses).sum()

    def _candidates(self, cited: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return rows of training papers, ascending: all, or the cited ones and some others."""
        if len(self._pool) <= _MOST_PAPERS:
            return self._pool
        return np.union1d(cited, rng.choice(self._pool, _MOST_PAPERS, replace=False))

    def _known(self, queries: Citing, rows: np.ndarray) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Return which candidates are cited, and (B, N) which are no negatives."""
        owners = torch.from_numpy(row_numbers(np.diff(queries.offsets)))
        cited = torch.from_numpy(np.searchsorted(rows, queries.cited))
        manuscripts = torch.from_numpy(queries.manuscripts.astype(np.int64))
        candidates = torch.from_numpy(rows)
        is_known = self._years[candidates] > self._years[manuscripts][:, None]
        is_known |= candidates == manuscripts[:, None]
        is_known[owners, cited] = True
        return (owners, cited), is_known
