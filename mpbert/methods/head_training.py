"""How the maps of :mod:`mpbert.methods.citation_head` learn from all training queries.

A text was read once, before. So the maps learn from all contexts in minutes, and a query has all
training papers as negatives, or 32,768 random ones of more, where an update of a transformer sees
the papers of a batch alone. Left out are papers that the sentence cites, later ones, and the
manuscript itself.

A sum of an update holds no context of a manuscript of the batch: at test time the query's
manuscript is unknown to all papers. In a small corpus that hides most contexts from an update.
Contexts of manuscripts that are newer than the query stay, although at test time there are none.
Contexts and whole manuscripts are learnt side by side, and their two mean losses are added.
"""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.seeding import named_rng
from mpbert.methods.citation_head import CitationHead, citation_loss
from mpbert.methods.citing_sums import CitingSums, rows_on
from mpbert.methods.fine_tuning import FineTuningSchedule
from mpbert.methods.torch_training import TorchLearner
from mpbert.methods.training_citations import CitingQueries

_MOST_PAPERS = 1 << 15  # of which an update computes cosines
_FEWEST_UPDATES = 8  # of an epoch: in a batch of all contexts, no paper would have a sum


class HeadLearning(TorchLearner):
    """The maps learn from all training contexts and manuscripts, in a random order; a step updates.

    :param papers: (N, D) unit vectors of titles and abstracts.
    :param schedule: its batch counts contexts.
    :raises CorpusError: there is nothing to learn from.
    """

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
        self._years = rows_on(papers.device, store.years)
        is_training = store.paper_splits == "train"
        self._pool = np.flatnonzero(is_training)
        self._local, self._whole = (
            CitingQueries.of(queries, is_training)
            for queries in (store.contexts("train"), store.manuscripts("train"))
        )
        if not len(self._local):
            raise CorpusError(
                f"{store.path}: found no training context that cites a training paper; expected "
                f"some: choose other years, or --settings head_epochs=0"
            )
        self._schedule, self._seed = schedule, seed
        batches = max(math.ceil(len(self._local) / schedule.batch), _FEWEST_UPDATES)
        self.plan = schedule.plan("head", min(batches, len(self._local)), part="head")

    def step(self, number: int) -> Iterator[float]:
        """Do an update."""
        per_epoch = self.plan.steps_per_line
        epoch, place = divmod(number, per_epoch)
        local, whole = (
            queries.take(np.array_split(rng.permutation(len(queries)), per_epoch)[place])
            for queries, rng in (
                (self._local, named_rng(self._seed, "order of contexts for the head", epoch)),
                (self._whole, named_rng(self._seed, "order of manuscripts for the head", epoch)),
            )
        )
        self.set_rate(self._schedule.rate(number, self.plan.num_steps))
        rng = named_rng(self._seed, "papers for the head", number)
        yield self.update(self._loss(local, whole, rng))

    def _loss(self, local: CitingQueries, whole: CitingQueries, rng: np.random.Generator) -> Tensor:
        manuscripts = np.unique(np.concatenate([local.manuscripts, whole.manuscripts]))
        rows = self._candidates(np.concatenate([local.cited, whole.cited]), rng)
        places = torch.from_numpy(rows)
        sums = self._sums.without(manuscripts, rows)
        papers = self._head.of_papers(self._papers[places], sums)
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
            losses.append(citation_loss(vectors @ papers.T, cited, is_known))
        return torch.stack(losses).sum()

    def _candidates(self, cited: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return rows of training papers, ascending: all, or the cited ones and some others."""
        if len(self._pool) <= _MOST_PAPERS:
            return self._pool
        return np.union1d(cited, rng.choice(self._pool, _MOST_PAPERS, replace=False))

    def _known(
        self, queries: CitingQueries, rows: np.ndarray
    ) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Return which candidates are cited, and (B, N) which are no negatives."""
        device = self._papers.device
        owners = rows_on(device, row_numbers(np.diff(queries.offsets)))
        cited = rows_on(device, np.searchsorted(rows, queries.cited))
        manuscripts, candidates = rows_on(device, queries.manuscripts), rows_on(device, rows)
        is_known = self._years[candidates] > self._years[manuscripts][:, None]
        is_known |= candidates == manuscripts[:, None]
        is_known[owners, cited] = True
        return (owners, cited), is_known
