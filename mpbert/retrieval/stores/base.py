"""What a store of vectors is asked for.

A store proposes papers; it decides nothing. Their scores are computed anew from the vectors that
we hold, and what it knows of them is put there by :mod:`mpbert.retrieval.stores.papers`.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mpbert.foundation.errors import StoreUnavailableError

RETRY_SECONDS = 5  # after which an answer may be asked for again


@dataclass(frozen=True)
class Mark:
    """What a collection holds.

    :param owner: of whose papers; it stays when some are added or removed.
    :param state: between which changes; empty while it is being changed.
    """

    owner: str
    state: str


@dataclass(frozen=True)
class StoredRows:
    """Papers as a store keeps them.

    :param vectors: (M, D) float32, no longer than 1.
    :param years: M of them; 0 where a paper has none.
    :param digests: M of them, 64 bits signed, of vector and year.
    """

    ids: Sequence[str]
    vectors: np.ndarray
    years: Sequence[int]
    digests: Sequence[int]


@dataclass(frozen=True)
class HeldPapers:
    """Papers of a corpus or an index whose vectors a store is to hold.

    :param ids: N ids; ``years`` (N,), 0 where a paper has none.
    :param rows: (M,) rows of the papers that have a vector.
    :param unit: from rows to their (M, D) float32 vectors, no longer than 1.
    """

    ids: Sequence[str]
    years: np.ndarray
    rows: np.ndarray
    unit: Callable[[np.ndarray], np.ndarray]


class Store(Protocol):
    """A collection; every method raises :class:`StoreUnavailableError` where it fails.

    What was put and dropped is on disk when the state is noted.
    """

    most: int
    """Papers that a search can be asked for."""

    def mark(self) -> Mark | None:
        """Return what the collection holds, ready to be searched; None: there is none."""

    def create(self, owner: str, dim: int) -> None:
        """Make the collection, without papers."""

    def note(self, state: str) -> None:
        """Note the state; searches from now on see all that was put and dropped before.

        :param state: empty before a change.
        """

    def held(self) -> dict[str, int]:
        """Return the digest of each paper by its id."""

    def put(self, rows: StoredRows) -> None:
        """Add papers, or replace those of the same ids."""

    def drop(self, ids: Sequence[str]) -> None:
        """Remove papers."""

    def search(self, queries: np.ndarray, depth: int, year: int | None) -> list[list[str]]:
        """Return ids of the papers of the largest inner products, best first, for each query.

        :param queries: (Q, D); ``depth`` at most ``most``.
        :param year: papers of later years are none; None: all.
        """


def digest_of(vector: np.ndarray, about: bytes) -> int:
    """Return 64 bits of BLAKE2 of a vector and what else tells papers apart, signed."""
    digest = hashlib.blake2b(vector.tobytes() + about, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def unavailable(where: str, error: Exception) -> StoreUnavailableError:
    """Return the error that says why a store does not answer.

    :param where: its address.
    """
    told = [getattr(error, name, None) for name in ("message", "strerror", "details")]
    found = next((part() if callable(part) else part for part in told if part), str(error))
    reason = " ".join(str(found).split())[:160] or type(error).__name__
    return StoreUnavailableError(
        f"{where}: the store is unavailable ({reason}); expected an answer, try again in "
        f"{RETRY_SECONDS} seconds"
    )
