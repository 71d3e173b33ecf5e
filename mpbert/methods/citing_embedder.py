"""What methods share that read titles, abstracts and contexts alone and add their vectors."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError
from mpbert.methods.embedding import Embedder
from mpbert.vectors.store import VectorStore

_BATCH = 512  # contexts of an update of the head
_RATE = 1e-3  # of its learning


@dataclass
class CitingEmbedder(Embedder):
    """Vectors of papers that may gain those of training contexts which cite them.

    The settings: ``citing_vectors``, whether they do. If so: ``query``, whether the query of a
    context gains the title and abstract of its manuscript; ``head_epochs`` and ``head_rate``, of
    linear maps that are learnt last (0 epochs: none).
    """

    citing_vectors: bool = False
    query: str = setting("context", choices=("context", "context+abstract"))
    head_epochs: int = setting(0, minimum=0)
    head_rate: float = _RATE

    def __post_init__(self) -> None:
        for name, plain in (("query", "context"), ("head_epochs", 0)):
            found = getattr(self, name)
            if found != plain and not self.citing_vectors:
                raise ConfigError(
                    f"{name}={found}: found citing_vectors=false, with which it has no effect; "
                    f"expected citing_vectors=true, or {name}={plain}"
                )
        if self.head_rate != _RATE and not self.head_epochs:
            raise ConfigError(
                f"head_rate={self.head_rate}: found head_epochs=0, with which it has no effect; "
                f"expected head_epochs=1 or more, or head_rate={_RATE}"
            )

    def join(
        self, store: CorpusStore, papers: np.ndarray, contexts: np.ndarray, seed: int
    ) -> dict[str, int]:
        """Add the vectors of texts that were read alone; learn the maps, if wanted.

        :param papers: (N, D) of titles and abstracts; ``contexts`` (C, D) of the training contexts.
        :returns: counts for the manifest.
        """
        from mpbert.methods.citing_vectors import CitingVectors
        from mpbert.methods.fine_tuning import FineTuningSchedule
        from mpbert.methods.head_training import HeadLearning
        from mpbert.methods.training import train

        joined = CitingVectors(store, papers, contexts, self.query == "context+abstract")
        self._joined = joined
        if not self.head_epochs:
            return {}
        schedule = FineTuningSchedule(self.head_epochs, _BATCH, self.head_rate)
        learner = HeadLearning(joined.head, store, joined.own, joined.sums, schedule, seed)
        updates = train(learner, self.checkpoint_of(store, seed, part="head"))
        numbers = sum(p.numel() for p in joined.head.parameters())
        return {"head_parameters": numbers, "head_updates": updates}

    @abstractmethod
    def read_papers(self, store: CorpusStore) -> np.ndarray:
        """Return (N, D) vectors of the texts of papers."""

    @abstractmethod
    def read_queries(self, store: CorpusStore, queries: Queries) -> np.ndarray:
        """Return (Q, D) vectors of the texts of queries."""

    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return the vectors of papers, with those of citing contexts if wanted."""
        found = self._joined.papers() if self.citing_vectors else self.read_papers(store)
        return VectorStore(store.paper_ids, found)

    def embed_queries(self, store: CorpusStore, queries: Queries) -> VectorStore:
        """Return the vectors of contexts, or of titles and abstracts; of both where both count."""
        read = partial(self.read_queries, store, queries)
        found = self._joined.queries(queries, read) if self.citing_vectors else read()
        return VectorStore(queries.query_ids, found)

    def save(self, store: CorpusStore, directory: Path) -> None:
        """Write maps that were learnt, ``head.safetensors``."""
        if self.head_epochs:
            from safetensors.torch import save_file

            maps = self._joined.head.named_parameters()
            save_file({n: p.detach().contiguous() for n, p in maps}, directory / "head.safetensors")
