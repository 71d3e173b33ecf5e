"""The interface of all rerankers, and their registry: rankings of papers become one ranking."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.registry import Registry


@dataclass(frozen=True)
class Ranking:
    """The ranked papers of every query, best first.

    :param rows: (Q, K) rows of papers; -1 beyond the end of a list.
    :param scores: (Q, K) larger is better; -inf beyond the end of a list.
    """

    rows: np.ndarray
    scores: np.ndarray

    def first(self, k: int) -> "Ranking":
        """Return the first k papers of every query."""
        return Ranking(self.rows[:, :k], self.scores[:, :k])


class Reranker(ABC):
    """From one or several rankings to a better one.

    A member is a dataclass whose fields are its settings, as those of baselines are.

    ``num_inputs``: fewest and most rankings it takes. ``checkpoint`` is as that of baselines.
    """

    name: ClassVar[str]
    num_inputs: ClassVar[tuple[int, int]] = (1, 1)
    resumes: ClassVar[bool] = False
    checkpoint: Path | None = None

    @property
    def learns_from(self) -> str:
        """The split whose queries and rankings ``fit`` gets, or nothing."""
        return ""

    def check(self, store: CorpusStore) -> None:  # noqa: B027 (most take any corpus)
        """Refuse a corpus that lacks what the member reads, before any work.

        :raises CorpusError: it does.
        """

    def fit(
        self,
        store: CorpusStore,
        queries: Queries,
        rankings: Sequence[Ranking],
        rng: np.random.Generator,
    ) -> dict[str, int]:
        """Learn from queries, what they cite, and what was ranked for them.

        :returns: counts of what was used, for the manifest.
        """
        return {}

    @abstractmethod
    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the new ranking; what the queries cite is not looked at."""

    def save(self, directory: Path) -> None:  # noqa: B027 (most have nothing)
        """Write what is worth keeping of a fitted reranker."""


RERANKERS: Registry[type[Reranker]] = Registry("reranker", "mpbert.methods", "reranker")


def sorted_ranking(rows: np.ndarray, scores: np.ndarray) -> Ranking:
    """Return papers by the tie rule: larger score first, then the smaller row.

    :param rows: (Q, K) in any order; -1 for none.
    :param scores: (Q, K); those of no paper do not matter.
    """
    scores = np.where(rows < 0, -np.inf, scores)
    order = np.lexsort((rows, -scores), axis=1)
    return Ranking(
        np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)
    )


def with_rest(first: Ranking, ranking: Ranking) -> Ranking:
    """Return the papers of ``first``, which are the first of ``ranking``, then the rest of it.

    The rest keeps its order; its scores are 1, 2, ... below the lowest of ``first``.
    """
    depth = first.rows.shape[1]
    rest = ranking.rows[:, depth:]
    lowest = np.where(first.rows >= 0, first.scores, np.inf).min(axis=1, initial=np.inf)
    lowest = np.where(np.isfinite(lowest), lowest, 0.0)
    below = lowest[:, None] - np.arange(1, rest.shape[1] + 1)
    return Ranking(
        np.concatenate([first.rows, rest], axis=1),
        np.concatenate([first.scores, np.where(rest >= 0, below, -np.inf)], axis=1),
    )
