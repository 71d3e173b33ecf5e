"""What a store of vectors is asked for, and the URL that names one.

A store proposes papers; it decides nothing. Their scores are computed anew from the vectors that
we hold, and what it knows of them is put there by :mod:`mpbert.retrieval.stores.papers`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit

import numpy as np

from mpbert.foundation.config import option
from mpbert.foundation.errors import ConfigError, StoreUnavailableError

RETRY_SECONDS = 5  # after which an answer may be asked for again
KINDS = {
    "milvus": "milvus://HOST:PORT[/COLLECTION]",
    "postgresql": "postgresql://HOST:PORT/DATABASE",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


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


class Store(Protocol):
    """A collection of a server; every method raises :class:`StoreUnavailableError` where it fails.

    What :meth:`put`, :meth:`drop` and :meth:`note` have returned from, the server has on disk.
    """

    most: int
    """Papers that a search can be asked for."""

    def mark(self) -> Mark | None:
        """Return what the collection holds, ready to be searched; None: there is none."""

    def create(self, owner: str, dim: int) -> None:
        """Make the collection, without papers."""

    def note(self, state: str) -> None:
        """Note the state; searches from now on see all that was put and dropped before."""

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


def store_option() -> Any:
    """Return the field of ``--store``, the same in every command that has it."""
    kinds = " or ".join(KINDS.values())
    return option("", f"search the vectors in a store, {kinds}; none: search them here")


def changed_store_option() -> Any:
    """Return the field of ``--store`` of commands that change an index."""
    kinds = " or ".join(KINDS.values())
    return option("", f"also change the papers that are held in a store, {kinds}")


def checked_url(url: str) -> SplitResult:
    """Return the parts of the URL of a store.

    :raises ConfigError: it names none that we know, or holds a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    name = parts.path.strip("/")
    is_milvus = parts.scheme == "milvus"
    if parts.scheme not in KINDS or (is_milvus and not (parts.hostname and port)):
        raise ConfigError(f"--store {url[:80]!a}: expected {' or '.join(KINDS.values())}")
    if parts.password:
        raise ConfigError(
            f"--store {parts.scheme}://...: holds a password, which manifests and lists of "
            f"processes would show; set MILVUS_TOKEN=USER:PASSWORD, or PGPASSWORD, in its place"
        )
    if is_milvus and name and not _NAME.fullmatch(name):
        raise ConfigError(
            f"--store {url[:80]!a}: the collection is {name[:40]!a}; expected a letter or _, then "
            f"letters, digits and _"
        )
    return parts


def open_store(url: str, owner: str) -> Store:
    """Return the collection of a URL; without a name in it, one is made of the owner's.

    :raises ConfigError: the URL names no store.
    :raises ModuleNotFoundError: the package that speaks to it is not installed.
    """
    parts, name = checked_url(url), f"mpbert_{owner[:16]}"
    if parts.scheme == "milvus":
        from mpbert.retrieval.stores.milvus import MilvusStore

        return MilvusStore(str(parts.hostname), int(parts.port or 0), parts.path.strip("/") or name)
    from mpbert.retrieval.stores.pgvector import PgvectorStore

    return PgvectorStore(url, name)


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
