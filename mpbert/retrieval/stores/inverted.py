"""Papers in inverted lists in a file that stays mapped: IVF of FAISS, 8 bits a dimension.

A question reads the lists whose centres are nearest to it. How many is measured when they are
learnt: twice as many as with which a sample of the papers finds 0.99 of the hundred nearest others,
since questions are less like papers than these are like each other. Questions then find 0.98 of
their ten nearest. Where a year leaves out papers, so many more lists are read that as many papers
remain.
"""

import hashlib
import logging
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import faiss
import numpy as np

from mpbert.foundation.seeding import named_rng

logger = logging.getLogger(__name__)

Blocks = Iterator[tuple[np.ndarray, np.ndarray]]  # (B,) keys and (B, D) float32 vectors
_SEED, _ROUNDS = 1, 10  # of k-means
_PER_LIST = 32  # papers a list is learnt from
_SAMPLE, _NEAREST, _RECALL = 256, 100, 0.99  # papers asked with, and what they find of the nearest
_FARTHER = 2  # times as many lists for a question as for a paper
_GROWN = 1.4  # lists become so many times as many where there are twice the papers
_LEAST = -(1 << 62)  # below all keys


class InvertedLists:
    """Papers by keys, which are whole numbers; -1 is none."""

    def __init__(self, index: faiss.IndexIVFScalarQuantizer) -> None:
        self._index = index

    @classmethod
    def learn(cls, blocks: Callable[[], Blocks], num_papers: int) -> Self:
        """Return lists of all papers that the blocks hold; these are read twice."""
        num_lists = _num_lists(num_papers)
        rng, share = named_rng(_SEED, "papers of lists"), _PER_LIST * num_lists / num_papers
        sample = np.concatenate([block[rng.random(len(block)) < share] for _, block in blocks()])
        dim = sample.shape[1]
        centres = faiss.IndexFlatIP(dim)
        kind = faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
        index = faiss.IndexIVFScalarQuantizer(centres, dim, num_lists, *kind, False)
        index.cp.niter, index.cp.seed, index.cp.spherical = _ROUNDS, _SEED, True
        index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, 2 * _PER_LIST
        index.train(sample)
        made = cls(index)
        made.add(blocks())
        index.nprobe = made._enough(rng.permutation(sample)[:_SAMPLE])
        logger.info("a question reads %d of %d lists", index.nprobe, num_lists)
        return made

    @classmethod
    def read(cls, path: Path, seal: str, mapped: bool) -> Self:
        """Return the lists in a file.

        :param seal: what :meth:`write` returned.
        :raises ValueError: the file is another one.
        """
        if _seal(path, int(seal.partition(" ")[0])) != seal:  # before FAISS trusts its numbers
            raise ValueError("found other bytes than were written")
        mapped = mapped and os.name == "posix"  # elsewhere FAISS maps none
        flags = faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY if mapped else 0
        index = faiss.read_index(str(path), flags)
        if mapped:  # it would start threads for each question, to read ahead
            faiss.downcast_InvertedLists(index.invlists).prefetch_nthread = 0
        return cls(index)

    def write(self, path: Path) -> str:
        """Write a file, and return a seal of what is no list in it.

        :raises OSError: the disk refuses it.
        """
        try:
            faiss.write_index(self._index, str(path))
        except RuntimeError as error:
            path.unlink(missing_ok=True)
            raise OSError(str(error).rpartition(":")[2]) from error
        with path.open("rb+") as file:
            os.fsync(file.fileno())
        of_lists = self._index.ntotal * (self._index.code_size + 8)
        return _seal(path, path.stat().st_size - of_lists)

    def are_few(self, num_papers: int) -> bool:
        """Return whether lists of so many papers are better learnt anew."""
        return _num_lists(num_papers) > _GROWN * self._index.nlist

    def add(self, blocks: Blocks) -> None:
        """Add papers."""
        for keys, vectors in blocks:
            self._index.add_with_ids(vectors, keys)

    def rename(self, renamed: Callable[[np.ndarray], np.ndarray]) -> None:
        """Give papers other keys; those that get -1 are removed."""
        for number in range(self._index.nlist):
            keys = self._keys(number)
            keys[:] = renamed(keys)
        self._index.remove_ids(faiss.IDSelectorRange(-1, 0))

    def search(
        self, queries: np.ndarray, depth: int, below: int | None, share: float
    ) -> np.ndarray:
        """Return (Q, depth) keys of the largest inner products, best first; -1 where it has fewer.

        :param below: of papers with smaller keys alone; None: of all.
        :param share: how large a part of all these are.
        """
        index, few = self._index, math.ceil(self._index.nprobe / max(share, 1e-9))
        chosen = None if below is None else faiss.IDSelectorRange(_LEAST, below)
        while True:
            few = min(few, index.nlist)
            params = faiss.SearchParametersIVF(nprobe=few, sel=chosen)
            _, keys = index.search(queries, depth, params=params)
            if few == index.nlist or (keys != -1).all():
                return keys
            few *= 4

    def _enough(self, sample: np.ndarray) -> int:
        """Return how many lists a question reads."""
        every = faiss.SearchParametersIVF(nprobe=self._index.nlist)
        near = self._index.search(sample, _NEAREST + 1, params=every)[1][:, 1:]  # not the paper
        numbers = range(self._index.nlist)
        keys = np.concatenate(list(map(self._keys, numbers)))
        order = np.argsort(keys)
        lists = np.repeat(numbers, [*map(self._index.get_list_size, numbers)])[order]
        places = np.searchsorted(keys, np.where(near == -1, keys[0], near), sorter=order)
        asked = self._index.quantizer.search(sample, self._index.nlist)[1]
        ranks = np.argsort(asked, axis=1)  # of each list, for each of the sample
        needed = np.take_along_axis(ranks, lists[places], axis=1)[near != -1]
        most = np.quantile(needed, _RECALL, method="higher") if needed.size else 0
        return min(_FARTHER * (1 + int(most)), self._index.nlist)

    def _keys(self, number: int) -> np.ndarray:
        """Return (B,) keys of a list, where they lie."""
        held = self._index.invlists
        size = held.list_size(number)
        return faiss.rev_swig_ptr(held.get_ids(number), size) if size else np.zeros(0, np.int64)


def _num_lists(num_papers: int) -> int:
    return max(1, min(int(4 * math.sqrt(num_papers)), num_papers // 4))


def _seal(path: Path, head: int) -> str:
    """Return the length of what stands before the lists in a file, that of all, and a checksum."""
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(head)).hexdigest()
    return f"{head} {path.stat().st_size} {digest}"
