"""Fusion: several rankings become one.

* ``reciprocal``: Cormack, Clarke and Büttcher (SIGIR 2009),  score(d) = Σ_i 1 / (k + rank_i(d)).
* ``learnt``: a sum of scores, ranks and, with ``priors=citations``, of citations and age, with
  weights learnt on validation: :mod:`mpbert.methods.linear_fusion`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from numpy.random import Generator

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.methods.linear_fusion import LinearFusion
from mpbert.methods.rankings import Ranking, fuse_reciprocal
from mpbert.methods.reranking import RERANKERS, Reranker


@RERANKERS.register
@dataclass
class Fusion(Reranker):
    """Reciprocal ranks, or a learnt sum of scores, ranks and priors."""

    name: ClassVar[str] = "fusion"
    num_inputs: ClassVar[tuple[int, int]] = (2, 99)
    method: str = setting("learnt", choices=("learnt", "reciprocal"))
    k: int = 60
    priors: str = setting("citations", choices=("none", "citations"))

    def __post_init__(self) -> None:
        self.linear = LinearFusion(self.k, self.priors == "citations")

    @property
    def learns_from(self) -> str:
        """Validation queries, where weights are learnt."""
        return "valid" if self.method == "learnt" else ""

    def fit(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking], rng: Generator
    ) -> dict[str, int]:
        """Learn the weights on the validation queries.

        :raises RunError: none of the cited papers is among those ranked.
        """
        found = self.linear.candidates(store, queries, rankings)
        names = self.linear.feature_names(self.names_of(rankings))
        return self.linear.fit(store, queries, found, names)

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the union of the rankings by the new score."""
        if self.method == "reciprocal":
            return fuse_reciprocal(rankings, store.num_papers, self.k)
        found = self.linear.candidates(store, queries, rankings)
        return found.papers.ranking(self.linear.scores(found))

    def save(self, directory: Path) -> None:
        """Write the weights, if they are learnt."""
        if self.method == "learnt":
            self.linear.save(directory)
