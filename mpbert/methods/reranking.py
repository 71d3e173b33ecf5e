"""The interface of all rerankers, and their registry: rankings of papers become one ranking."""

import zlib
from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mpbert.foundation.errors import CorpusError
from mpbert.foundation.registry import Registry
from mpbert.methods.method import Method

if TYPE_CHECKING:  # the help of commands lists names of methods alone
    import numpy as np

    from mpbert.corpus.store import CorpusStore, Queries
    from mpbert.methods.checkpoint import Checkpoint
    from mpbert.methods.rankings import Ranking


class Reranker(Method):
    """From one or several rankings to a better one.

    :cvar num_inputs: fewest and most rankings it takes.
    :cvar takes_vectors: whether vectors may tell it the score of a paper that a ranking lacks.
    :cvar learns_from: split whose queries ``fit`` gets, or nothing; a property if settings decide.
    :ivar input_names: what the rankings are called; the command sets it.
    :ivar score_pairs: from (P,) places of the queries to rerank and (P,) rows of papers to (P,)
        scores by such vectors; None: there are none. The command sets it for each split.
    """

    num_inputs: ClassVar[tuple[int, int]] = (1, 1)
    takes_vectors: ClassVar[bool] = False
    learns_from: ClassVar[str] = ""
    input_names: Sequence[str] = ()
    score_pairs: "Callable[[np.ndarray, np.ndarray], np.ndarray] | None" = None

    def check(self, store: "CorpusStore") -> None:
        """Refuse a corpus that lacks what the member reads, before any work.

        :raises CorpusError: it does.
        """

    def prepare(self, store: "CorpusStore", rng: "np.random.Generator") -> dict[str, int]:
        """Load and read what it needs to rerank, whether it learns or not; ``fit`` comes after.

        :param rng: goes on to ``fit``.
        :returns: counts of what was read, for the manifest.
        """
        return {}

    def fit(
        self,
        store: "CorpusStore",
        queries: "Queries",
        rankings: "Sequence[Ranking]",
        rng: "np.random.Generator",
    ) -> dict[str, int]:
        """Learn from queries, what they cite, and what was ranked for them.

        :returns: counts of what was used, for the manifest.
        """
        return {}

    @abstractmethod
    def rerank(
        self, store: "CorpusStore", queries: "Queries", rankings: "Sequence[Ranking]"
    ) -> "Ranking":
        """Return the new ranking; what the queries cite is not looked at."""

    def checkpoint_of_lists(
        self, store: "CorpusStore", seed: int, rows: "np.ndarray"
    ) -> "Checkpoint | None":
        """Return :meth:`checkpoint_of` a training on lists of these (Q, K) papers."""
        return self.checkpoint_of(store, seed, len(rows), zlib.crc32(rows.copy()))

    def names_of(self, rankings: "Sequence[Ranking]") -> list[str]:
        """Return the names of the rankings; ``run 1`` and so on where none were given."""
        return list(self.input_names) or [f"run {i + 1}" for i in range(len(rankings))]

    def save(self, directory: Path) -> None:
        """Write what is worth keeping of a fitted reranker."""


def check_has_texts(store: "CorpusStore", reader: str) -> None:
    """Refuse a corpus without titles and abstracts.

    :param reader: the reranker that reads them.
    :raises CorpusError: it has none.
    """
    if not store.num_abstract.any() and not any(store.titles):
        raise CorpusError(
            f"{store.path}: found neither titles nor abstracts; expected some for a {reader} to "
            f"read, choose another reranker or build the corpus with text"
        )


RERANKERS: Registry[type[Reranker]] = Registry(
    "reranker", "mpbert.methods", "reranker", group="mpbert.methods"
)
