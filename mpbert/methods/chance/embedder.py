"""Chance: random vectors, so that every ranking is a random one."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.seeding import named_rng
from mpbert.methods.embedding import EMBEDDERS, Embedder
from mpbert.vectors.store import VectorStore


@EMBEDDERS.register
@dataclass
class Chance(Embedder):
    """Vectors of a standard normal distribution, whose directions are uniform."""

    name: ClassVar[str] = "chance"
    quick: ClassVar[tuple[str, ...]] = ("dim=8",)
    dim: int = 64

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Choose a seed; there is nothing to learn."""
        self._seed = int(rng.integers(2**31))
        return {}

    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return a random vector of every paper."""
        return self._sample(store.paper_ids, "papers")

    def embed_queries(self, store: CorpusStore, queries: Queries) -> VectorStore:
        """Return a random vector of every query."""
        return self._sample(queries.query_ids, f"queries {' '.join(queries.query_ids[:1])}")

    def _sample(self, ids: list[str], purpose: str) -> VectorStore:
        rng = named_rng(self._seed, purpose)
        return VectorStore(ids, rng.standard_normal((len(ids), self.dim), dtype=np.float32))
