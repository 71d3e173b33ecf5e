"""A table of PostgreSQL with pgvector: HNSW lists over inner products; its comment is the mark."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mpbert.retrieval.stores.base import Mark, StoredRows, unavailable

_REACH, _SEARCH_MS = 2, 5000  # seconds to connect, milliseconds to search
_MOST_INDEXED = 2000  # dimensions; longer vectors are all compared
_WIDEST = 1000  # of a search in the lists; a longer answer takes several


class PgvectorStore:
    """A table, see :class:`mpbert.retrieval.stores.base.Store`; ``url`` is one of libpq."""

    most = 16_384

    def __init__(self, url: str, table: str) -> None:
        self._url, self._table = url, table
        self._held: Any = None

    def mark(self) -> Mark | None:
        """Return what the table holds; None: there is none."""
        found = self._run("SELECT obj_description(to_regclass(%s), 'pg_class')", [self._table])
        return Mark(**json.loads(found[0][0])) if found[0][0] else None

    def create(self, owner: str, dim: int) -> None:
        """Make the table, without papers."""
        columns = "paper_id text PRIMARY KEY, year integer, digest bigint"
        self._run("CREATE EXTENSION IF NOT EXISTS vector")
        self._run(f"CREATE TABLE {self._table} ({columns}, vector vector({dim}))")
        if dim <= _MOST_INDEXED:
            self._run(f"CREATE INDEX ON {self._table} USING hnsw (vector vector_ip_ops)")
        self._comment(Mark(owner, ""))

    def note(self, state: str) -> None:
        """Note the state."""
        self._comment(Mark(self.mark().owner, state))

    def held(self) -> dict[str, int]:
        """Return the digest of each paper by its id."""
        return dict(self._run(f"SELECT paper_id, digest FROM {self._table}"))

    def put(self, rows: StoredRows) -> None:
        """Add papers, or replace those of the same ids."""
        new = ", ".join(f"{name} = EXCLUDED.{name}" for name in ("year", "digest", "vector"))
        asked = (
            f"INSERT INTO {self._table} VALUES (%s, %s, %s, %s::vector) "
            f"ON CONFLICT (paper_id) DO UPDATE SET {new}"
        )
        vectors = [str(vector.tolist()) for vector in rows.vectors]
        with self._connected() as database, database.transaction(), database.cursor() as cursor:
            cursor.executemany(asked, zip(rows.ids, rows.years, rows.digests, vectors, strict=True))

    def drop(self, ids: Sequence[str]) -> None:
        """Remove papers."""
        self._run(f"DELETE FROM {self._table} WHERE paper_id = ANY(%s)", [list(ids)])

    def search(self, queries: np.ndarray, depth: int, year: int | None) -> list[list[str]]:
        """Return ids of the papers of the largest inner products, best first, for each query."""
        where = "" if year is None else f"WHERE year <= {year}"
        nearest = f"ORDER BY vector <#> %s::vector LIMIT {depth}"
        asked = f"SELECT paper_id FROM {self._table} {where} {nearest}"
        with self._connected() as database, database.transaction():
            wide = f"SET LOCAL hnsw.ef_search = {min(max(depth, 128), _WIDEST)}"
            database.execute(f"SET LOCAL statement_timeout = {_SEARCH_MS}; {wide}")
            database.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            found = [database.execute(asked, [str(one.tolist())]).fetchall() for one in queries]
        return [[row[0] for row in rows] for rows in found]

    def _run(self, asked: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._connected() as database:
            found = database.execute(asked, values)
            return found.fetchall() if found.description else []

    def _comment(self, mark: Mark) -> None:
        text = json.dumps(vars(mark)).replace("'", "''")
        self._run(f"COMMENT ON TABLE {self._table} IS '{text}'")

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """Give a connection; one that was lost is made again by the next call.

        :raises StoreUnavailableError: there is no server, or it does not do what is asked.
        """
        import psycopg

        try:
            if self._held is None:
                self._held = psycopg.connect(self._url, autocommit=True, connect_timeout=_REACH)
            yield self._held
        except psycopg.Error as error:
            self._held = None
            raise unavailable(self._url, error) from error
