"""Training of a cross-encoder on the papers that a first ranking found for training queries.

Three losses over the scores s of the candidates of a query, cited (+) or not (-):

* ``cross_entropy``: Nogueira, Jiang, Cho and Lin (2020), Eq. 1, with p = σ(s), mean over pairs,

      loss = - Σ_+ log p - Σ_- log (1 - p)

* ``margin``: Gu, Gao and Hahnloser (ECIR 2022), Eq. 3, mean over pairs of a cited and another one,

      loss = max(σ(s_-) - σ(s_+) + m, 0)

* ``listwise``: of all candidates of a list, mean over its cited ones, then over lists,

      loss = - log (e^(s_+) / Σ e^s)

A cited paper that the ranking did not find is not added: Nogueira et al. (Sec. 5.3) lost nearly all
of F1 and MRR by that.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.errors import RunError
from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.cross_encoder.model import PairScorer
from mpbert.methods.cross_encoder.standardised import standardised
from mpbert.methods.cross_encoder.texts import PairTexts
from mpbert.methods.method import Method
from mpbert.methods.rankings import Ranking


@dataclass(frozen=True)
class TrainingLists:
    """The first papers ranked for training queries.

    :param rows: (Q, K), -1 beyond the end of a list.
    :param cited: (Q, K), whether the query cites the paper.
    :param old: (Q, K), the ranking's own scores, standardised in each list; -inf beyond its end.
    """

    rows: np.ndarray
    cited: np.ndarray
    old: np.ndarray

    def take(self, numbers: np.ndarray) -> "TrainingLists":
        """Return the lists of some queries."""
        return TrainingLists(self.rows[numbers], self.cited[numbers], self.old[numbers])

    def usable(self, loss: str) -> np.ndarray:
        """Return numbers of the queries to learn from: those that the loss tells anything."""
        has_other = ((self.rows >= 0) & ~self.cited).any(axis=1)
        has_cited = self.cited.any(axis=1)
        return np.flatnonzero(
            has_other | has_cited if loss == "cross_entropy" else has_other & has_cited
        )


def training_lists(
    store: CorpusStore, queries: Queries, ranking: Ranking, depth: int
) -> TrainingLists:
    """Return the first ``depth`` training papers of each list; other papers are not read.

    :raises RunError: the queries cite none of them.
    """
    allowed = (ranking.rows >= 0) & (store.paper_splits == "train")[ranking.rows]
    order = np.argsort(~allowed, axis=1, kind="stable")[:, :depth]
    rows = np.take_along_axis(np.where(allowed, ranking.rows, -1), order, axis=1)
    scores = np.take_along_axis(np.where(allowed, ranking.scores, -np.inf), order, axis=1)
    keys = row_numbers(np.diff(queries.cited_offsets)) * store.num_papers + queries.cited_rows
    numbers = np.arange(len(rows))[:, None] * store.num_papers
    cited = np.isin(numbers + rows, keys) & (rows >= 0)
    if not cited.any():
        raise RunError(
            f"none of the papers that training queries cite is among the first {depth} of their "
            f"lists; expected some, rank better or with --settings depth_train={2 * depth}"
        )
    return TrainingLists(rows, cited, standardised(scores))


def with_some_negatives(
    rows: np.ndarray, cited: np.ndarray, limit: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return lists of all cited papers and at most ``limit`` of the others, chosen at random.

    :param rows: (L, K), -1 beyond the end of a list; ``cited`` (L, K).
    """
    keys = rng.random(rows.shape) + 1
    keys[cited] = 0.0
    keys[rows < 0] = np.inf
    order = np.argsort(keys, axis=1)
    rows, cited = (np.take_along_axis(x, order, axis=1) for x in (rows, cited))
    ends = cited.sum(axis=1, keepdims=True) + limit
    rows = np.where(np.arange(rows.shape[1]) < ends, rows, -1)
    width = int(ends.max())
    return rows[:, :width], cited[:, :width]


class ListObjective:
    """An objective of :mod:`mpbert.methods.fine_tuning`; an example is a query.

    :param queries: training queries to learn from, and ``texts`` (Q,) of them.
    :param settings: ``loss``, ``margin`` and ``negatives``: most candidates that are not cited, of
        each list and visit; 0 for all.
    :param of_list: (Q, K), what a list adds to the scores of its candidates, all of which are read.
    """

    def __init__(
        self,
        scorer: PairScorer,
        papers: PairTexts,
        texts: Ragged,
        queries: Queries,
        lists: TrainingLists,
        settings: Method,
        of_list: np.ndarray | None = None,
    ) -> None:
        self.scorer, self.papers, self.texts = scorer, papers, texts
        self.queries, self.lists, self.examples = queries, lists, np.arange(len(queries))
        self.settings, self.of_list = settings, of_list

    def backward(self, examples: np.ndarray, rng: np.random.Generator) -> float:
        """Add the gradient of the loss of these lists; return it, in nats or as a margin."""
        loss = self.loss_of(examples, rng)
        loss.backward()
        return loss.item()

    def loss_of(self, examples: np.ndarray, rng: np.random.Generator) -> Tensor:
        """Return the loss of these lists."""
        rows, cited = self.lists.rows[examples], self.lists.cited[examples]
        if self.settings.negatives:
            rows, cited = with_some_negatives(rows, cited, self.settings.negatives, rng)
        lists, _ = np.nonzero(rows >= 0)
        numbers = examples[lists]
        own, sample = self.queries.citing_rows[numbers], int(rng.integers(1, 2**31))
        pairs = self.papers.pairs(self.texts, numbers, own, rows[rows >= 0], sample)
        found = self.scorer(pairs)
        if self.of_list is not None:
            found = found + torch.from_numpy(self.of_list[examples][rows >= 0]).to(found)
        device = found.device
        is_candidate = torch.from_numpy(rows >= 0).to(device)
        is_cited = torch.from_numpy(cited).to(device)
        scores = torch.full(rows.shape, -torch.inf, device=device)
        scores = scores.masked_scatter(is_candidate, found)
        if self.settings.loss == "cross_entropy":
            return cross_entropy_loss(found, is_cited[is_candidate])
        if self.settings.loss == "margin":
            return margin_loss(scores, is_cited, self.settings.margin)
        return listwise_loss(scores, is_cited)


def cross_entropy_loss(scores: Tensor, is_cited: Tensor) -> Tensor:
    """Return the mean loss of pairs, in nats.

    :param scores: (M,) log-odds; ``is_cited`` (M,).
    """
    return F.binary_cross_entropy_with_logits(scores, is_cited.float())


def margin_loss(scores: Tensor, is_cited: Tensor, margin: float) -> Tensor:
    """Return the mean loss of pairs of a cited and another candidate of the same list.

    :param scores: (L, K) log-odds; -inf beyond the end of a list. ``is_cited`` (L, K).
    """
    relevances = torch.sigmoid(scores)  # from 0 to 1
    losses = torch.relu(relevances[:, None, :] - relevances[:, :, None] + margin)  # (L, +, -)
    is_other = torch.isfinite(scores) & ~is_cited
    return losses[is_cited[:, :, None] & is_other[:, None, :]].mean()


def listwise_loss(scores: Tensor, is_cited: Tensor) -> Tensor:
    """Return the mean loss of lists, in nats.

    :param scores: (L, K); -inf beyond the end of a list. ``is_cited`` (L, K), some in each list.
    """
    logarithms = torch.log_softmax(scores, dim=1).masked_fill(~is_cited, 0.0)
    return (-logarithms.sum(dim=1) / is_cited.sum(dim=1)).mean()
