"""The index as it is now: ``mpbert add`` and ``mpbert remove`` change it while it is served.

A change replaces ``manifest.json`` in one step (:mod:`mpbert.recommending.directory`), so a look at
that file tells whether there was one. Answers that are running keep the recommender that they
began with; its files stay mapped although their names are gone.
"""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mpbert.foundation.checksums import MANIFEST, fingerprint
from mpbert.foundation.errors import MpbertError, StoreUnavailableError
from mpbert.recommending.bibliography import PaperMatcher
from mpbert.recommending.recommender import Recommender
from mpbert.serving.map import positions_of

logger = logging.getLogger(__name__)
Mark = tuple[int, ...]
_WARM_UP = "A sentence of a manuscript, to load what the first answer would wait for."


@dataclass(frozen=True)
class Edition:
    """An index between two changes.

    :param index_id: SHA-256 of its manifest, in hexadecimal; empty where it is of no directory.
    """

    recommender: Recommender
    index_id: str = ""

    @cached_property
    def known(self) -> frozenset[str]:
        """Ids of all papers."""
        return frozenset(self.recommender.paper_ids)

    @cached_property
    def matcher(self) -> PaperMatcher:
        """Finds the papers that references are."""
        return PaperMatcher(self.recommender)

    @cached_property
    def positions(self) -> bytes:
        """The map of all papers, as JSON."""
        return positions_of(self.recommender).model_dump_json().encode()


class LiveIndex:
    """The edition of an index that is in force.

    :param edition: what is served first.
    :param path: the index; None: it never changes.
    :param mark: what :func:`mark_of` gave before ``edition`` was read.
    :param store: URL of the store that proposes papers; empty: none.
    """

    def __init__(
        self, edition: Edition, path: Path | None = None, mark: Mark = (), store: str = ""
    ) -> None:
        self._edition, self._path, self._mark, self._store = edition, path, mark, store
        self._thread = ThreadPoolExecutor(1)  # not that of the answers, which go on meanwhile
        self._reading: asyncio.Future[None] | None = None
        self.problem = ""

    @classmethod
    def open(cls, path: Path, store: str = "") -> "LiveIndex":
        """Read an index, and answer one question so that later ones are fast.

        :param store: URL of a store that proposes papers; empty: none.
        :raises MpbertError: the index cannot be read, or the store does not answer.
        """
        mark = mark_of(path)
        return cls(_read(path, store), path, mark, store)

    async def edition(self) -> Edition:
        """Return the edition in force; one that was written meanwhile is read first.

        Where it cannot be read, the old one stays in force until the next change; ``problem`` and
        the log say in one line why. Where its store does not answer, the next question reads it.

        :raises StoreUnavailableError: the index was changed, and the store does not answer.
        """
        while self._reading is not None or self._is_changed():
            if self._reading is None:
                loop = asyncio.get_running_loop()
                self._reading = loop.run_in_executor(self._thread, self._replace)
                self._reading.add_done_callback(self._done)
            await asyncio.shield(self._reading)  # others wait for it, too
        return self._edition

    def _is_changed(self) -> bool:
        return self._path is not None and mark_of(self._path) != self._mark

    def _done(self, reading: "asyncio.Future[None]") -> None:
        self._reading = None
        if not reading.cancelled():
            reading.exception()  # who waits for it is told

    def _replace(self) -> None:
        path = self._path or Path()
        mark = mark_of(path)  # before it is read: a change after that is seen next time
        try:
            self._edition, self.problem = _read(path, self._store), ""
        except StoreUnavailableError:
            raise
        except Exception as error:  # whatever is wrong with it, the old one can answer
            self.problem = str(error) or type(error).__name__
            is_ours = isinstance(error, MpbertError)
            logger.error(
                "%s: the changed index cannot be read, the old one is served on: %s",
                *(path, self.problem),
                exc_info=None if is_ours else error,
            )
        else:
            logger.info("%s: changed, %d papers", path, len(self._edition.recommender))
        self._mark = mark


def mark_of(path: Path) -> Mark:
    """Return what tells one manifest of an index from the next; empty where there is none."""
    try:
        found = (path / MANIFEST).stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def _read(path: Path, store: str) -> Edition:
    index_id = fingerprint(path)
    edition = Edition(Recommender(path, store), index_id)
    edition.recommender.answer(edition.recommender.asked(_WARM_UP))
    return edition
