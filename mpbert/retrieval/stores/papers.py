"""Papers whose vectors lie in a store, too, brought up to date before they are searched.

A collection is marked with its owner and its state, see :class:`mpbert.retrieval.stores.base.Mark`.
Where the state is another, the digests of its papers tell what is put and what is dropped. So a
collection that is empty, that was left half filled, or that missed a change of an index is mended
by the next command that searches it.
"""

import hashlib
import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.id_rows import IdRows
from mpbert.foundation.progress import progress
from mpbert.retrieval.dense import parts_of
from mpbert.retrieval.stores.base import HeldPapers, Mark, Store, StoredRows, digest_of
from mpbert.retrieval.stores.urls import checked_url, open_store

if TYPE_CHECKING:  # FAISS, which servers do without
    from mpbert.retrieval.stores.lists import ListsStore

logger = logging.getLogger(__name__)

_PUT_BYTES = 4 << 20  # of vectors put at once
_DROPPED = 4096  # papers dropped at once
_RESULTS = 1 << 16  # ids that a server is asked for at once


def papers_in_store(url: str, mark: Mark, *papers: Any) -> "PapersInStore | ListsStore":
    """Return the papers in a store of any kind, brought up to date; errors as there.

    :param papers: what :class:`~mpbert.retrieval.stores.base.HeldPapers` has, in this order.
    :raises DamagedError: a file of a folder is not as it was written.
    """
    store = open_store(url, mark.owner)
    if checked_url(url).scheme != "lists":
        return PapersInStore(store, url, mark, HeldPapers(*papers))
    store.hold(mark, HeldPapers(*papers))
    return store


class PapersInStore:
    """Papers of a corpus or an index that a server proposes.

    :param url: of the ``store``; ``mark`` what its collection has to hold.
    :raises StoreUnavailableError: the store does not answer.
    :raises ConfigError: the collection holds papers of another owner.
    """

    def __init__(self, store: Store, url: str, mark: Mark, papers: HeldPapers) -> None:
        self._store, self._ids, rows = store, IdRows(papers.ids), papers.rows
        self._years, self._unit = papers.years, papers.unit
        found = self._store.mark()
        if found is not None and found.owner != mark.owner:
            raise ConfigError(
                f"--store {url}: the collection holds papers of another index or of other vectors; "
                f"expected those of this one, name another collection or none"
            )
        if found is None:
            self._store.create(mark.owner, papers.unit(rows[:1]).shape[1])
        if found is None or found.state != mark.state:
            self._bring_up(rows, mark.state)

    @property
    def most(self) -> int:
        """Papers that can be proposed."""
        return self._store.most

    def propose(self, queries: np.ndarray, depth: int, year: int | None) -> np.ndarray:
        """Return (Q, depth) rows of the nearest papers, best first; -1 where there are fewer.

        :param queries: (Q, D); ``depth`` at most ``most``.
        :param year: papers of later years are not proposed; None: all are.
        """
        rows = np.full((len(queries), depth), -1, dtype=np.int64)
        for block in parts_of(len(queries), max(1, _RESULTS // max(depth, 1))):
            found = self._store.search(queries[block], depth, year)
            for query, ids in zip(rows[block], found, strict=True):
                row_of = self._ids.find(ids)  # without those that another process put meanwhile
                known = [row_of[name] for name in ids if name in row_of]
                query[: len(known)] = known
        return rows

    def _bring_up(self, rows: np.ndarray, state: str) -> None:
        """Put and drop what the collection lacks and has too much."""
        self._store.note("")
        held, num_put = self._store.held(), 0
        parts = parts_of(len(rows), max(1, _PUT_BYTES // self._unit(rows[:1]).nbytes))
        for part in progress(parts, "vectors to the store", "block") if len(parts) > 1 else parts:
            vectors = self._unit(rows[part])
            ids = [self._ids.ids[row] for row in rows[part]]
            years = self._years[rows[part]].tolist()
            noted = [year.to_bytes(4, "little", signed=True) for year in years]
            digests = list(map(digest_of, vectors, noted))
            new = [i for i, name in enumerate(ids) if held.pop(name, None) != digests[i]]
            if new:
                chosen = [[values[i] for i in new] for values in (ids, years, digests)]
                self._store.put(StoredRows(chosen[0], vectors[new], *chosen[1:]))
            num_put += len(new)
        gone = list(held)
        for part in parts_of(len(gone), _DROPPED):
            self._store.drop(gone[part])
        self._store.note(state)
        logger.info("store: %d papers put, %d dropped, %d held", num_put, len(gone), len(rows))


def owner_of(origin: str) -> str:
    """Return the name of an owner, whatever tells it from others."""
    return hashlib.sha256(origin.encode()).hexdigest()
