"""The interface of all embedders, methods that make vectors, and their registry."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mpbert.corpus.tasks import TASKS
from mpbert.foundation.config import from_settings
from mpbert.foundation.registry import Registry
from mpbert.methods.method import Method

if TYPE_CHECKING:  # the help of commands lists names of methods alone
    import numpy as np

    from mpbert.corpus.store import CorpusStore, Queries
    from mpbert.vectors.store import VectorStore


class Embedder(Method):
    """From a corpus store to citation and query vectors, which are compared by cosine."""

    tasks: ClassVar[tuple[str, ...]] = TASKS

    @abstractmethod
    def fit(self, store: "CorpusStore", rng: "np.random.Generator") -> dict[str, int]:
        """Learn from the training split: text and contexts of its papers, nothing else.

        :returns: counts of what was used, for the manifest.
        """

    @abstractmethod
    def embed_papers(self, store: "CorpusStore") -> "VectorStore":
        """Return the citation vector of every paper of the corpus, in row order."""

    @abstractmethod
    def embed_queries(self, store: "CorpusStore", queries: "Queries") -> "VectorStore":
        """Return the vector of every query, in their order."""

    def vectors(self, store: "CorpusStore") -> "dict[str, VectorStore]":
        """Return what a vectors directory holds: papers, and queries of each task to rank for."""
        from mpbert.vectors.store import vectors_name

        queries = {
            vectors_name(task, split): self.embed_queries(store, store.queries(split, task))
            for task in self.tasks
            for split in ("valid", "test")
        }
        return {"papers": self.embed_papers(store), **queries}

    def save(self, store: "CorpusStore", directory: Path) -> None:
        """Write what else is worth keeping of a fitted embedder."""


EMBEDDERS: Registry[type[Embedder]] = Registry(
    "method", "mpbert.methods", "embedder", group="mpbert.methods"
)


def make_embedder(name: str, settings: Sequence[str]) -> Embedder:
    """Return an embedder that is not yet fitted.

    :param settings: ``field=value`` each, for fields of the embedder.
    :raises ConfigError: no such embedder, setting or value.
    """
    return from_settings(EMBEDDERS[name], settings, name)
