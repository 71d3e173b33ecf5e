"""Training of DualLCR; all that is random depends on seed and epoch.

An example is a training query and a training paper that it cites. Its negatives are the first
papers of its list, if any are asked for, and random papers, the same for all examples of a batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.corpus.years import were_there
from mpbert.foundation.errors import RunError
from mpbert.foundation.ragged import row_numbers
from mpbert.methods.dual_lcr.bibliography import AuthorsAndCitations
from mpbert.methods.dual_lcr.model import DualNetwork, margin_loss
from mpbert.methods.dual_lcr.scoring import ContextPairs, context_vectors, read
from mpbert.methods.dual_lcr.texts import TextReader
from mpbert.methods.method import Method
from mpbert.methods.rankings import Ranking, places_of
from mpbert.methods.torch_training import TorchLearner
from mpbert.methods.training import Plan


@dataclass(frozen=True)
class DualExamples:
    """Pairs of a query and a paper that it cites, and what may be a negative.

    :param queries: whose contexts are learnt from.
    :param query: (E,) their places; ``paper`` (E,) rows of what they cite.
    :param near: (Q, K) first papers ranked for the queries; -1 for none.
    :param pool: (M,) rows of the training papers.
    :param known: ascending, manuscript · N + paper, of each paper that a manuscript cites.
    :param years: (N,) of all papers.
    """

    queries: Queries
    query: np.ndarray
    paper: np.ndarray
    near: np.ndarray
    pool: np.ndarray
    known: np.ndarray
    years: np.ndarray

    @classmethod
    def of(
        cls, store: CorpusStore, queries: Queries, ranking: Ranking, near: int
    ) -> "DualExamples":
        """Return the examples of training queries.

        :param near: papers of each list that are read.
        :raises RunError: no training query cites a training paper.
        """
        is_training = store.paper_splits == "train"
        query = row_numbers(np.diff(queries.cited_offsets))
        learnt = is_training[queries.cited_rows]
        if not learnt.any():
            raise RunError(
                "no training query cites a training paper; expected some to learn from, choose "
                "other years"
            )
        citing = queries.citing_rows[query].astype(np.int64)
        return cls(
            queries,
            query[learnt],
            queries.cited_rows[learnt],
            ranking.without(~is_training[ranking.rows]).first(near).rows,
            np.flatnonzero(is_training),
            np.unique(citing * store.num_papers + queries.cited_rows),
            store.years,
        )

    def __len__(self) -> int:
        return len(self.query)

    def is_negative(self, query: np.ndarray, papers: np.ndarray) -> np.ndarray:
        """Return (B, K) whether each paper may be a negative of its query.

        None is cited by the query's manuscript, or is that, or newer.

        :param query: (B,) places; ``papers`` (B, K) rows, -1 for none.
        """
        own, years = self.queries.citing_rows[query], self.queries.years[query]
        keys = own[:, None].astype(np.int64) * len(self.years) + papers
        is_known = places_of(self.known, keys.ravel()).reshape(keys.shape) >= 0
        is_older = were_there(self.years[papers], years[:, None])
        return (papers >= 0) & ~is_known & is_older & (papers != own[:, None])


class DualLearner(TorchLearner):
    """An epoch a step.

    :param settings: those of DualLCR.
    :param seed: of all that is random.
    """

    def __init__(
        self,
        network: DualNetwork,
        settings: Method,
        texts: TextReader,
        bibliography: AuthorsAndCitations,
        examples: DualExamples,
        seed: int,
    ) -> None:
        rate = settings.learning_rate
        super().__init__(network, [torch.optim.Adam(network.parameters(), lr=rate)])
        self._network, self._settings, self._seed = network, settings, seed
        self._papers, self._bibliography, self._examples = texts.papers, bibliography, examples
        self._contexts = texts.queries(examples.queries)
        self.plan = Plan.of_epochs(settings, len(examples))

    def step(self, number: int) -> Iterator[float]:
        """Learn from all examples once, in random order."""
        rng = np.random.default_rng([self._seed, number])
        order = rng.permutation(len(self._examples))
        for part in np.array_split(order, self.plan.updates_per_step):
            yield self.update(self._loss(part, rng))

    def candidates(self, part: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Return (B, 1 + K) rows of papers, the cited one first, and (B, K) which are negatives."""
        e, s = self._examples, self._settings
        query = e.query[part]
        drawn = rng.choice(e.pool, min(s.negatives, len(e.pool)), replace=False)
        rows = [e.paper[part, None], e.near[query], np.tile(drawn, (len(part), 1))]
        papers = np.concatenate(rows, axis=1)
        return papers, e.is_negative(query, papers[:, 1:])

    def _loss(self, part: np.ndarray, rng: np.random.Generator) -> Tensor:
        papers, is_negative = self.candidates(part, rng)
        is_read = np.column_stack([np.ones(len(part), dtype=bool), is_negative])
        example, _ = np.nonzero(is_read)
        rows, which = np.unique(papers[is_read], return_inverse=True)
        queries = self._examples.queries.take(self._examples.query[part])
        contexts = context_vectors(
            self._network,
            self._contexts.take(self._examples.query[part]),
            queries.citing_rows,
            self._papers,
        )
        pairs = ContextPairs(example, rows, which, queries.years[example])
        states = read(self._network, self._papers.take(rows))
        found = pairs.scores(self._network, contexts, states, self._bibliography)
        compared = torch.from_numpy(is_read).to(found.device)
        scores = torch.zeros(is_read.shape, device=found.device).masked_scatter(compared, found)
        return margin_loss(scores, compared[:, 1:], self._settings.margin)
