"""Papers in a folder, without a server: inverted lists of FAISS, whose keys are rows of an index.

Lists are of one state of their papers, which the mark names, so an answer needs no ids. After a
change, digests of the papers by row tell which stay, and under which row. The mark is replaced
last, in one step: what is killed before changed nothing. A key is the year of a paper, 32 bits
further up than its row.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from mpbert.foundation.arrays import load_array
from mpbert.foundation.claims import one_at_a_time, replace_file
from mpbert.foundation.errors import DamagedError
from mpbert.foundation.progress import progress
from mpbert.retrieval.proposals import parts_of
from mpbert.retrieval.stores.base import HeldPapers, Mark, digest_of, unavailable
from mpbert.retrieval.stores.inverted import Blocks, InvertedLists

_YEAR = 32  # bits of a key below the year
_ROW = (1 << _YEAR) - 1
_BLOCK = 1 << 13  # papers that go into lists at once


class ListsStore:
    """Proposes papers, as :class:`mpbert.retrieval.stores.papers.PapersInStore` does."""

    most = 16_384

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lists: InvertedLists | None = None

    def mark(self) -> Mark | None:
        """Return what the folder holds; None: nothing.

        :raises StoreUnavailableError: it cannot be read or written.
        :raises DamagedError: it is not as it was written.
        """
        with self._alone():
            noted = self._noted()
        return Mark(noted["owner"], noted["state"]) if noted else None

    def hold(self, mark: Mark, papers: HeldPapers) -> None:
        """Map the lists of papers; those of another state are changed first, one after another.

        Errors are those of :meth:`mark`.
        """
        ids, rows, unit = papers.ids, papers.rows, papers.unit
        self._years, self._known = papers.years, np.sort(papers.years[rows])
        with self._alone():
            noted = self._noted()
            if noted.get("state") != mark.state:
                digests = np.zeros(len(ids), np.int64)
                for part in parts_of(len(rows), _BLOCK):
                    each = zip(unit(rows[part]), rows[part].tolist(), strict=True)
                    digests[rows[part]] = [digest_of(one, ids[row].encode()) for one, row in each]
                noted = self._change(noted, mark, self._keys(rows), digests, unit)
            self._lists = self._read(noted, mapped=True)

    def propose(self, queries: np.ndarray, depth: int, year: int | None) -> np.ndarray:
        """Return (Q, depth) rows of the nearest papers, best first, as ``PapersInStore`` does."""
        if self._lists is None:
            return np.full((len(queries), depth), -1)
        below, share = None, 1.0
        if year is not None and year < self._known[-1]:
            below = (year + 1) << _YEAR
            share = self._known.searchsorted(year, side="right") / len(self._known)
        keys = self._lists.search(queries, depth, below, share)
        rows = np.minimum(keys & _ROW, len(self._years) - 1)
        return np.where(self._keys(rows) == keys, rows, -1)  # a spoilt key is that of no paper

    def _change(
        self,
        noted: dict[str, Any],
        mark: Mark,
        keys: np.ndarray,
        digests: np.ndarray,
        unit: Callable[[np.ndarray], np.ndarray],
    ) -> dict[str, Any]:
        """Write the lists of papers as they are now; return what is noted of them.

        :param keys: (M,) of the papers; ``digests`` (N,) by row.
        """

        def blocks(keys: np.ndarray) -> Blocks:
            for part in progress(parts_of(len(keys), _BLOCK), "papers into lists", "block"):
                yield keys[part], unit(keys[part] & _ROW)

        lists, number = self._read(noted, mapped=False), noted.get("number", 0)
        if not len(keys):
            lists = None
        elif lists is None or lists.are_few(len(keys)):
            lists = InvertedLists.learn(lambda: blocks(keys), len(keys))
        else:
            places = np.argsort(digests[keys & _ROW])  # of the papers, by their digests
            ascending, stays = digests[keys & _ROW][places], np.zeros(len(keys), dtype=bool)
            with self._whole(before := self._files(number)[1]):
                old = load_array(before)

            def renamed(held: np.ndarray) -> np.ndarray:
                asked = old[np.minimum(held & _ROW, len(old) - 1)]
                found = np.minimum(np.searchsorted(ascending, asked), len(places) - 1)
                is_there = ascending[found] == asked
                stays[places[found[is_there]]] = True
                return np.where(is_there, keys[places[found]], -1)

            lists.rename(renamed)
            lists.add(blocks(keys[~stays]))
        path, beside = self._files(number + 1)
        np.save(beside, digests)
        seal = "" if lists is None else lists.write(path)
        new = vars(mark) | {"number": number + 1, "seal": seal}
        replace_file(self._folder / "mark.json", json.dumps(new).encode())
        for file in self._files(number):
            with suppress(OSError):  # of systems that keep a file that somebody reads
                file.unlink(missing_ok=True)
        return new

    def _keys(self, rows: np.ndarray) -> np.ndarray:
        return (self._years[rows].astype(np.int64) << _YEAR) + rows

    def _files(self, number: int) -> tuple[Path, Path]:
        return self._folder / f"{number}.faiss", self._folder / f"{number}.npy"

    def _noted(self) -> dict[str, Any]:
        """Return the mark, and which files belong to it; empty: there is none."""
        path = self._folder / "mark.json"
        with self._whole(path):
            noted = json.loads(path.read_bytes()) if path.exists() else {}
            if noted and noted.keys() != {"owner", "state", "number", "seal"}:
                raise ValueError(f"found {', '.join(noted)[:80]}")
        return noted

    def _read(self, noted: dict[str, Any], mapped: bool) -> InvertedLists | None:
        """Return the lists; None: there are none."""
        if not noted.get("seal"):
            return None
        path, _ = self._files(noted["number"])
        with self._whole(path):
            return InvertedLists.read(path, noted["seal"], mapped)

    @contextmanager
    def _whole(self, path: Path) -> Iterator[None]:
        """Name a file that cannot be read inside.

        :raises DamagedError: it cannot.
        """
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:160]
            raise DamagedError(
                f"{path}: damaged ({reason}); expected papers in lists as they were written, "
                f"remove {self._folder} and run this again, which makes them anew"
            ) from error

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other process reads or changes the folder.

        :raises StoreUnavailableError: the folder cannot be read or written.
        """
        try:
            with one_at_a_time(self._folder):
                yield
        except OSError as error:
            raise unavailable(str(self._folder), error) from error
