"""Records by a key, kept on disk: for formats whose large files must be joined.

The file lies in the folder for temporary files (``TMPDIR``) and goes when the process ends.
"""

import json
import os
import sqlite3
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from mpbert.foundation.errors import CorpusError


class DiskIndex:
    """Keeps JSON values by key; several values of a key come back in the order of adding.

    Fill it, then :meth:`seal` it; processes forked afterwards may read it.
    """

    def __init__(self) -> None:
        handle, self._path = tempfile.mkstemp(prefix="mpbert-", suffix=".sqlite")
        os.close(handle)
        weakref.finalize(self, _remove, self._path, os.getpid())
        self._owner = -1
        self._connect()
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("CREATE TABLE rows (key TEXT, value TEXT)")

    def add(self, key: str, value: Any) -> None:
        """Keep a value; what JSON can hold."""
        self._connection.execute("INSERT INTO rows VALUES (?, ?)", (key, json.dumps(value)))

    def seal(self) -> None:
        """Make all values readable; none may be added after."""
        self._connection.execute("CREATE INDEX by_key ON rows (key)")
        self._connection.commit()

    def get(self, key: str) -> list[Any]:
        """Return all values of a key."""
        self._connect()
        found = self._connection.execute(
            "SELECT value FROM rows WHERE key = ? ORDER BY rowid", (key,)
        )
        return [json.loads(value) for (value,) in found]

    def keys(self) -> Iterator[str]:
        """Yield all keys, each once, sorted."""
        self._connect()
        for (key,) in self._connection.execute("SELECT DISTINCT key FROM rows ORDER BY key"):
            yield key

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process reads the same file by."""
        return {"_path": self._path, "_owner": -1}

    def _connect(self) -> None:
        if self._owner != os.getpid():  # SQLite forbids a connection to cross a fork
            if not os.path.exists(self._path):  # it would make an empty one
                raise CorpusError(
                    f"{self._path}: found no such file on this machine; expected a folder for "
                    f"temporary files that all machines share: set TMPDIR to it"
                )
            # a pool of processes reads records in a thread of its own
            self._connection = sqlite3.connect(self._path, check_same_thread=False)
            self._owner = os.getpid()


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:
        with suppress(OSError):
            os.unlink(path)
