"""A collection in a folder, without a server: lists of FAISS, and a database of SQLite.

The database holds keys, ids and digests of papers, the mark, and which file of lists belongs to
them. It changes in one transaction, until the state is noted: what is killed meanwhile changed
nothing. A key is the year of a paper, 32 bits further up than a number that is given once.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

import numpy as np

from mpbert.foundation.errors import DamagedError
from mpbert.foundation.growing_arrays import Numbers
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import distinct
from mpbert.retrieval.stores.base import Mark, StoredRows, unavailable
from mpbert.retrieval.stores.inverted import Blocks, InvertedLists

_TABLES = """
PRAGMA mmap_size = 2147418112; -- the most
PRAGMA cache_spill = 0; -- others go on reading until a change is complete
CREATE TABLE IF NOT EXISTS papers (key INTEGER PRIMARY KEY, id TEXT UNIQUE, digest INTEGER);
CREATE TABLE IF NOT EXISTS mark (owner, state, dim, last, file, seal);
"""
_WAIT_SECONDS = 600  # until another process has made its change
_YEAR = 32  # bits of a key below the year
_BLOCK = 1 << 13  # papers that go into lists at once


class ListsStore:
    """A collection, see :class:`mpbert.retrieval.stores.base.Store`."""

    most = 16_384

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._held_database: sqlite3.Connection | None = None
        self._lists: InvertedLists | None = None
        self._shares: dict[int, float] = {}  # key -> how many of the papers have smaller ones

    def mark(self) -> Mark | None:
        """Return what the collection holds, with its lists mapped; None: there is none."""
        with self._database() as database:
            database.execute("BEGIN")  # the file of lists stays until then
            found = database.execute("SELECT owner, state FROM mark").fetchone()
            self._lists, self._shares = self._read(database, mapped=True), {}
            database.execute("COMMIT")
        return Mark(*found) if found else None

    def create(self, owner: str, dim: int) -> None:
        """Make the collection, without papers."""
        asked = "INSERT INTO mark SELECT ?, '', ?, 0, 0, '' WHERE NOT EXISTS (SELECT * FROM mark)"
        with self._database() as database:
            database.execute(asked, [owner, dim])

    def note(self, state: str) -> None:
        """Begin a change, when all others are made; or end it, when what was put is in lists."""
        with self._database() as database:
            if not state:
                database.execute("BEGIN IMMEDIATE")
                self._keys, self._vectors = Numbers(np.int64), Numbers(np.float16)
                return
            old = self._arrange(database)
            database.execute("UPDATE mark SET state = ?", [state])
            database.execute("COMMIT")
        self.mark()
        with suppress(OSError):  # of systems that keep a file that somebody reads
            old.unlink(missing_ok=True)

    def held(self) -> dict[str, int]:
        """Return the digest of each paper by its id."""
        with self._database() as database:
            return dict(database.execute("SELECT id, digest FROM papers"))

    def put(self, rows: StoredRows) -> None:
        """Add papers, or replace those of the same ids, until the state is noted."""
        with self._database() as database:
            [last] = database.execute("SELECT last FROM mark").fetchone()
            keys = (np.asarray(rows.years, np.int64) << _YEAR) + last + np.arange(len(rows.ids))
            each = zip(keys.tolist(), rows.ids, rows.digests, strict=True)
            database.executemany("INSERT OR REPLACE INTO papers VALUES (?, ?, ?)", each)
            database.execute("UPDATE mark SET last = last + ?", [len(keys)])
        self._keys.extend(keys)
        self._vectors.extend(rows.vectors)

    def drop(self, ids: Sequence[str]) -> None:
        """Remove papers, when the state is noted."""
        with self._database() as database:
            database.executemany("DELETE FROM papers WHERE id = ?", zip(ids, strict=True))

    def search(self, queries: np.ndarray, depth: int, year: int | None) -> list[list[str]]:
        """Return ids of the papers of the largest inner products, best first, for each query."""
        if self._lists is None:
            return [[] for _ in queries]
        below, asked = None, "SELECT avg(key < ?) FROM papers"
        with self._database() as database:
            if year is not None and (below := (year + 1) << _YEAR) not in self._shares:
                [self._shares[below]] = database.execute(asked, [below]).fetchone()
            share = 1.0 if below is None else self._shares[below]
            keys = self._lists.search(queries, depth, below, share)
            asked = "SELECT p.key, p.id FROM json_each(?) JOIN papers AS p ON p.key = value"
            found = dict(database.execute(asked, [json.dumps(distinct(keys.ravel()).tolist())]))
        return [[found[key] for key in row if key in found] for row in keys.tolist()]

    def _arrange(self, database: sqlite3.Connection) -> Path:
        """Write lists of the papers as they are now; return the file that is no longer needed."""
        ascending = database.execute("SELECT key FROM papers ORDER BY key")
        papers = np.fromiter((key for [key] in ascending), np.int64)
        dim, file = database.execute("SELECT dim, file FROM mark").fetchone()
        keys, vectors = self._keys.array(), self._vectors.array().reshape(-1, dim)
        lists = self._read(database, mapped=False)

        def put() -> Blocks:
            for first in progress(range(0, len(keys), _BLOCK), "papers into lists", "block"):
                some = slice(first, first + _BLOCK)
                yield keys[some], vectors[some].astype(np.float32)

        def staying(of: InvertedLists | None = None) -> Blocks:
            for held, each in chain(() if of is None else of.decoded(), put()):
                stays = _among(held, papers)
                yield held[stays], each[stays]

        if not len(papers):
            lists = None
        elif lists is None or lists.are_few(len(papers)):
            old = lists
            lists = InvertedLists.learn(lambda: staying(old), len(papers), dim)
        else:
            held = lists.keys()
            lists.remove(held[~_among(held, papers)])
            lists.add(staying())
        seal = "" if lists is None else lists.write(self._path(file + 1))
        database.execute("UPDATE mark SET file = ?, seal = ?", [file + 1, seal])
        return self._path(file)

    def _read(self, database: sqlite3.Connection, mapped: bool) -> InvertedLists | None:
        """Return the lists; None: there are none."""
        found = database.execute("SELECT file, seal FROM mark WHERE seal != ''").fetchone()
        if found is None:
            return None
        try:
            return InvertedLists.read(self._path(found[0]), found[1], mapped)
        except (OSError, RuntimeError, ValueError) as error:
            raise self._damaged(self._path(found[0]), error) from error

    def _path(self, file: int) -> Path:
        return self._folder / f"{self._name}.{file}.faiss"

    def _damaged(self, path: Path, error: Exception) -> DamagedError:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:160]
        return DamagedError(
            f"{path}: damaged ({reason}); expected papers in lists as they were written, remove "
            f"{self._folder / self._name}.* and run this again, which makes them anew"
        )

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """Give the database; where it fails, a change that is not complete is undone.

        :raises StoreUnavailableError: it cannot be read or written, or others change it.
        :raises DamagedError: it is not as it was written.
        """
        path = self._folder / f"{self._name}.sqlite"
        try:
            if self._held_database is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                options = {"isolation_level": None, "check_same_thread": False}
                self._held_database = sqlite3.connect(path, _WAIT_SECONDS, **options)
                self._held_database.executescript(_TABLES)
            yield self._held_database
        except (OSError, sqlite3.Error) as error:
            held, self._held_database = self._held_database, None
            if held is not None:
                held.close()
            if isinstance(error, OSError | sqlite3.OperationalError):
                raise unavailable(str(path), error) from error
            raise self._damaged(path, error) from error


def _among(keys: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Return (B,) whether each key is among others, one at least."""
    places = np.searchsorted(ascending, keys)
    return ascending[np.minimum(places, len(ascending) - 1)] == keys
