"""A collection of Milvus.

HNSW lists over inner products. The owner is the collection's description, the state one of its
properties. A search is "bounded": it sees what was acknowledged some seconds ago; noting a state
waits until the server can find everything.
"""

import logging
import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from mpbert.foundation.errors import VectorsError
from mpbert.retrieval.stores.base import Mark, StoredRows, unavailable

if TYPE_CHECKING:
    from pymilvus import MilvusClient

logger = logging.getLogger(__name__)

_STATE = "mpbert.state"
_SECONDS, _BULK_SECONDS = 5.0, 300.0  # that a question, and what is of many papers, may take
_REACH_SECONDS, _POLL_SECONDS = 1.0, 0.5
_MANY = 1024  # papers; of fewer, the server makes no lists
_ID_BYTES = 1024
_PAGE = 4096  # ids listed at once
_LIST = {"index_type": "HNSW", "metric_type": "IP", "params": {"M": 16, "efConstruction": 200}}
_WIDTH, _FILTERED = 128, 512  # of a search in the lists, at least; with a filter it misses more


class MilvusStore:
    """A collection, see :class:`mpbert.retrieval.stores.base.Store`.

    The environment variable ``MILVUS_TOKEN`` is sent as the token, ``user:password``.
    """

    most = 16_384  # the server refuses more

    def __init__(self, host: str, port: int, collection: str) -> None:
        self._host, self._port, self._name = host, port, collection
        self._held_client: MilvusClient | None = None
        self._num_put, self._is_new = 0, False  # papers put, into a collection that we made

    def mark(self) -> Mark | None:
        """Return what the collection holds, loaded; None: there is none."""
        with self._client() as client:
            if not client.has_collection(self._name, timeout=_SECONDS):
                return None
            client.load_collection(self._name, timeout=_BULK_SECONDS)
            found = client.describe_collection(self._name, timeout=_SECONDS)
        return Mark(found["description"], found.get("properties", {}).get(_STATE, ""))

    def create(self, owner: str, dim: int) -> None:
        """Make the collection, without papers, and load it."""
        from pymilvus import DataType

        with self._client() as client:
            schema = client.create_schema(auto_id=False, description=owner)
            schema.add_field("paper_id", DataType.VARCHAR, is_primary=True, max_length=_ID_BYTES)
            schema.add_field("year", DataType.INT32)
            schema.add_field("digest", DataType.INT64)
            schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dim)
            lists = client.prepare_index_params()
            lists.add_index("vector", **_LIST)
            client.create_collection(
                self._name,
                schema=schema,
                index_params=lists,
                consistency_level="Bounded",
                timeout=_BULK_SECONDS,
            )
        self._is_new = True

    def note(self, state: str) -> None:
        """Note the state, when all that was put and dropped can be found."""
        with self._client() as client:
            self._count(client)
            if self._num_put >= _MANY:
                self._make_lists(client)
            properties = {_STATE: state}
            client.alter_collection_properties(self._name, properties, timeout=_SECONDS)

    def held(self) -> dict[str, int]:
        """Return the digest of each paper by its id."""
        found: dict[str, int] = {}
        with self._client() as client:
            if not self._count(client):
                return found
            pages = client.query_iterator(
                self._name,
                batch_size=_PAGE,
                output_fields=["paper_id", "digest"],
                timeout=_BULK_SECONDS,
            )
            while page := pages.next():
                found |= {row["paper_id"]: row["digest"] for row in page}
        return found

    def put(self, rows: StoredRows) -> None:
        """Add papers, or replace those of the same ids.

        :raises VectorsError: an id is too long.
        """
        for name in rows.ids:
            if len(name.encode()) > _ID_BYTES:
                raise VectorsError(
                    f"{self._where}: the id {name[:40]!r}... has {len(name.encode())} bytes; "
                    f"expected at most {_ID_BYTES}"
                )
        columns = zip(rows.ids, rows.years, rows.digests, rows.vectors, strict=True)
        names = "paper_id", "year", "digest", "vector"
        with self._client() as client:
            data = [dict(zip(names, row, strict=True)) for row in columns]
            client.upsert(self._name, data, timeout=_BULK_SECONDS)
        self._num_put += len(data)

    def drop(self, ids: Sequence[str]) -> None:
        """Remove papers."""
        with self._client() as client:
            client.delete(self._name, ids=list(ids), timeout=_BULK_SECONDS)

    def search(self, queries: np.ndarray, depth: int, year: int | None) -> list[list[str]]:
        """Return ids of the papers of the largest inner products, best first, for each query."""
        width = {"ef": max(depth, _WIDTH if year is None else _FILTERED)}
        with self._client() as client:
            found = client.search(
                self._name,
                list(queries),
                limit=depth,
                filter="" if year is None else f"year <= {year}",
                search_params={"metric_type": "IP", "params": width},
                timeout=_SECONDS if len(queries) == 1 else _BULK_SECONDS,
            )
        return [[hit["id"] for hit in hits] for hits in found]

    def _make_lists(self, client: Any) -> None:
        """Wait for the lists of what was put; until the server has them, it searches coarser ones.

        It makes them of what is flushed, which it does by itself after many minutes.
        """
        client.flush(self._name, timeout=_BULK_SECONDS)
        end = time.monotonic() + _BULK_SECONDS
        while client.describe_index(self._name, "vector", timeout=_SECONDS)["pending_index_rows"]:
            if time.monotonic() > end:
                logger.warning("%s: its lists are not made yet; it may find less", self._where)
                break
            time.sleep(_POLL_SECONDS)
        if self._is_new:  # loaded anew, it has them at once; others that ask would be refused
            client.release_collection(self._name, timeout=_BULK_SECONDS)
            client.load_collection(self._name, timeout=_BULK_SECONDS)
        self._num_put, self._is_new = 0, False

    @property
    def _where(self) -> str:
        return f"milvus://{self._host}:{self._port}"

    def _count(self, client: Any) -> int:
        """Return how many papers there are, all that was acknowledged among them."""
        found = client.query(
            self._name,
            output_fields=["count(*)"],
            consistency_level="Strong",
            timeout=_BULK_SECONDS,
        )
        return int(found[0]["count(*)"])

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """Give a client that is connected; pymilvus itself would try for long to reach a server.

        :raises StoreUnavailableError: there is no server, or it does not do what is asked.
        """
        import grpc
        from pymilvus import MilvusClient, MilvusException

        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # what fails is told in one line
        try:
            socket.create_connection((self._host, self._port), _REACH_SECONDS).close()
            if self._held_client is None:
                self._held_client = MilvusClient(
                    f"http://{self._host}:{self._port}",
                    token=os.environ.get("MILVUS_TOKEN", ""),
                    timeout=_SECONDS,
                )
            yield self._held_client
        except (OSError, MilvusException, grpc.RpcError) as error:
            self._close()
            raise unavailable(self._where, error) from error

    def _close(self) -> None:
        """Forget a client: one that lost its server waits ever longer before it looks for it."""
        client, self._held_client = self._held_client, None
        if client is not None:
            client.close()
