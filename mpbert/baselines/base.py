"""The interface of all baselines, and their registry."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mpbert.config import from_settings
from mpbert.data.store import CorpusStore
from mpbert.registry import Registry
from mpbert.vectors.store import VectorStore


class Baseline(ABC):
    """From a corpus store to citation and query vectors, which are compared by cosine.

    A member is a dataclass whose fields, of int, float or str, are its settings; see
    :func:`mpbert.config.setting` for fields with choices or with 0 among their values.
    """

    name: ClassVar[str]

    @abstractmethod
    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Learn from the training split: text and contexts of its papers, nothing else.

        :returns: counts of what was used, for the manifest.
        """

    @abstractmethod
    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return the citation vector of every paper of the corpus, in row order."""

    @abstractmethod
    def embed_contexts(self, store: CorpusStore, split: str) -> VectorStore:
        """Return the query vector of every citation context of a split, in its order."""

    def matrices(self, store: CorpusStore) -> dict[str, VectorStore]:
        """Return further vectors that are worth keeping, by name; most baselines have none."""
        return {}


BASELINES: Registry[type[Baseline]] = Registry("baseline")


def make_baseline(name: str, settings: Sequence[str]) -> Baseline:
    """Return a baseline that is not yet fitted.

    :param settings: ``field=value`` each, for fields of the baseline.
    :raises ConfigError: no such baseline, setting or value.
    """
    return from_settings(BASELINES[name], settings, name)
