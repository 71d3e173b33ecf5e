"""The interface of all baselines, and their registry."""

import dataclasses
import difflib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mpbert.data.store import CorpusStore
from mpbert.errors import ConfigError
from mpbert.registry import Registry
from mpbert.vectors.store import VectorStore


class Baseline(ABC):
    """From a corpus store to citation and query vectors, which are compared by cosine.

    A member is a dataclass whose fields, all of them int or float, are its settings.
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


BASELINES: Registry[type[Baseline]] = Registry("baseline")


def make_baseline(name: str, settings: Sequence[str]) -> Baseline:
    """Return a baseline that is not yet fitted.

    :param settings: ``name=value`` each, for fields of the baseline.
    :raises ConfigError: no such baseline or setting, or no number.
    """
    baseline = BASELINES[name]
    fields = {field.name: type(field.default) for field in dataclasses.fields(baseline)}
    values: dict[str, int | float] = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        if key not in fields:
            close = difflib.get_close_matches(key, fields, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(
                f"--settings {setting}: {name} has no setting {key!r}; expected one of "
                f"{', '.join(sorted(fields))}, as name=value{hint}"
            )
        try:
            values[key] = fields[key](text)
        except ValueError as error:
            raise ConfigError(
                f"--settings {setting}: found {text!r}; expected {fields[key].__name__}"
            ) from error
        if values[key] <= 0:
            raise ConfigError(f"--settings {setting}: found {text}; expected more than 0")
    return baseline(**values)
