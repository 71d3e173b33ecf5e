"""What methods share that read titles, abstracts and contexts alone and add their vectors."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError
from mpbert.methods.embedding import Embedder
from mpbert.vectors.store import VectorStore

# torch is imported by the methods that need it

_BATCH = 512  # contexts of an update of the head


@dataclass
class CitingEmbedder(Embedder):
    """Vectors of papers that may gain those of training contexts which cite them.

    The settings: ``citing_vectors``, whether they do; and if so ``query``, whether the query of a
    context gains the title and abstract of its manuscript; ``head_epochs`` and ``head_rate``, of
    linear maps that are learnt last (0 epochs: none).
    """

    citing_vectors: bool = False
    query: str = setting("context", choices=("context", "context+abstract"))
    head_epochs: int = setting(0, minimum=0)
    head_rate: float = 1e-3

    def __post_init__(self) -> None:
        """Check that no setting is without effect.

        :raises ConfigError: one is.
        """
        for value, name in (
            (self.query == "context+abstract", "query"),
            (self.head_epochs, "head_epochs"),
        ):
            if value and not self.citing_vectors:
                raise ConfigError(
                    f"{name}={getattr(self, name)}: found citing_vectors=false; expected "
                    f"citing_vectors=true, whose sums {name} changes"
                )

    def join(self, store: CorpusStore, papers: np.ndarray, contexts: np.ndarray, seed: int) -> None:
        """Add the vectors of texts that were read alone; learn the head, if wanted.

        :param papers: (N, D) of titles and abstracts; ``contexts`` (C, D) of the training contexts.
        """
        from mpbert.methods.citation_head import learn_head
        from mpbert.methods.citing_vectors import CitingVectors
        from mpbert.methods.fine_tuning import FineTuningSchedule

        self._joined = CitingVectors(store, papers, contexts, self.query == "context+abstract")
        if self.head_epochs:
            schedule = FineTuningSchedule(self.head_epochs, _BATCH, self.head_rate)
            checkpoint = self.checkpoint_of(store, seed, part="head")
            learn_head(
                *(self._joined.head, store, self._joined.own, self._joined.sums),
                *(schedule, seed, checkpoint),
            )

    def joined_papers(self, store: CorpusStore) -> VectorStore:
        """Return the vectors of papers, once :meth:`join` was called."""
        return VectorStore(store.paper_ids, self._joined.papers())

    def joined_queries(self, queries: Queries, read: Callable[[], np.ndarray]) -> VectorStore:
        """Return the vectors of queries; ``read`` makes those of contexts alone, (Q, D)."""
        return VectorStore(queries.query_ids, self._joined.queries(queries, read))

    def save(self, store: CorpusStore, directory: Path) -> None:
        """Write a head that was learnt, ``head.safetensors``."""
        if self.head_epochs:
            from safetensors.torch import save_file

            maps = self._joined.head.named_parameters()
            save_file({n: p.detach().contiguous() for n, p in maps}, directory / "head.safetensors")
