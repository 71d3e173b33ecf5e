"""The papers with the largest inner products in float32, of many queries, block by block.

Nearly all of the time is the matrix product. Where the processor multiplies bfloat16, which is
about three times as fast, papers are sorted out by products of rounded vectors, and float32
products are computed of the few that are left. Nothing is missed: with rounded q' and p',

    |q.p - q'.p'| <= |q - q'| |p| + |q'| |p - p'|                              (Cauchy-Schwarz)

so a paper stays if its rounded product reaches the least proposal less this bound. What a product
was rounded to is compared with the limit rounded alike, which keeps the order. Else, and where too
many papers stay, FAISS proposes.
"""

import sys
from collections.abc import Callable
from functools import cache, cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    import torch

_PAYS = 1 << 35  # multiplications from which on a second of loading torch pays
_PAYS_LOADED = 1 << 30  # the same where torch is there already
_BLOCK = 4096  # queries at once for FAISS
_QUERIES = 1024  # at once in bfloat16; with _PAPERS, their products are in the processor's cache
_PAPERS = 8192
_MOST = 0.01  # share of the papers left from which on FAISS is faster
_PAIRS = 1024  # float32 products at once
_ROUNDED = 1024  # vectors rounded at once
_SUMMED = 2.0**-22  # bound of the error of adding up in float32, for each dimension


class Proposals:
    """The papers with the largest products so far.

    :param queries: (Q, D) float32, no longer than 1.
    :param depth: papers wanted of each query, at least one.
    :param num_papers: that will be added, about.
    :ivar rows: (Q, depth), in any order; 0 where there are too few papers yet.
    :ivar scores: (Q, depth) float32, -inf where there are too few papers yet.
    """

    def __init__(self, queries: np.ndarray, depth: int, num_papers: int) -> None:
        self._queries = queries
        self.rows = np.zeros((len(queries), depth), dtype=np.int64)
        self.scores = np.full((len(queries), depth), -np.inf, dtype=np.float32)
        least = _PAYS_LOADED if "torch" in sys.modules else _PAYS
        pays = queries.size * num_papers >= least and _multiplies_bfloat16()
        self._rounded = Rounded(queries) if pays else None

    def add(self, papers: np.ndarray, rows: np.ndarray) -> None:
        """Propose some of these papers where they are better than earlier ones.

        :param papers: (P, D) float32, no longer than 1; ``rows`` (P,) their rows.
        """
        if self._rounded is None:
            for block in parts_of(len(self._queries), _BLOCK):
                self._add_by_faiss(block, papers, rows)
            return
        self.add_kept(Rounded(papers), papers.__getitem__, rows)

    @property
    def rounds(self) -> bool:
        """Whether papers are sorted out by rounded products, so that kept ones are of use."""
        return self._rounded is not None

    def add_kept(
        self, kept: "Rounded", unit: Callable[[np.ndarray | slice], np.ndarray], rows: np.ndarray
    ) -> None:
        """Propose some of the papers that were rounded before; only where :attr:`rounds`.

        :param unit: returns the papers of some places, (P, D) float32, no longer than 1.
        :param rows: (M,) their rows.
        """
        for block in parts_of(len(self._queries), _QUERIES):
            for part in parts_of(len(rows), _PAPERS):
                left = None
                if self.scores[block].min() > -np.inf:
                    least = self.scores[block].min(axis=1)
                    left = self._rounded.at_least(least, block, kept, part)
                if left is None:
                    self._add_by_faiss(block, unit(part), rows[part])
                else:
                    asked, places = left
                    self._add_pairs(block, asked, places + part.start, unit, rows)

    def _add_by_faiss(self, block: slice, papers: np.ndarray, rows: np.ndarray) -> None:
        import faiss

        depth = min(self.rows.shape[1], len(papers))
        metric = faiss.METRIC_INNER_PRODUCT
        scores, places = faiss.knn(self._queries[block], papers, depth, metric)
        self._merge(np.arange(len(self.rows))[block], scores, rows[places])

    def _add_pairs(
        self,
        block: slice,
        asked: np.ndarray,
        places: np.ndarray,
        unit: Callable[[np.ndarray | slice], np.ndarray],
        rows: np.ndarray,
    ) -> None:
        """Score pairs in float32 and keep the best.

        :param asked: (M,) places of queries in the block, ascending; ``places`` (M,) of papers.
        """
        queries = self._queries[block]
        scores = np.empty(len(asked), dtype=np.float32)
        for part in parts_of(len(asked), _PAIRS):
            np.einsum("md,md->m", queries[asked[part]], unit(places[part]), out=scores[part])
        with_pairs, first, counts = np.unique(asked, return_index=True, return_counts=True)
        if not len(counts):
            return
        shape = len(counts), counts.max()
        group = np.repeat(np.arange(len(counts)), counts)
        place = np.arange(len(asked)) - first[group]
        new_scores = np.full(shape, -np.inf, dtype=np.float32)
        new_rows = np.zeros(shape, dtype=np.int64)
        new_scores[group, place], new_rows[group, place] = scores, rows[places]
        self._merge(with_pairs + block.start, new_scores, new_rows)

    def _merge(self, queries: np.ndarray, scores: np.ndarray, rows: np.ndarray) -> None:
        depth = self.rows.shape[1]
        scores = np.hstack([self.scores[queries], scores])
        kept = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
        self.scores[queries] = np.take_along_axis(scores, kept, axis=1)
        rows = np.hstack([self.rows[queries], rows])
        self.rows[queries] = np.take_along_axis(rows, kept, axis=1)


class Rounded:
    """Vectors in bfloat16.

    :param vectors: (M, D) float32, no longer than 1.
    """

    def __init__(self, vectors: np.ndarray) -> None:
        import torch

        self._vectors = torch.empty(vectors.shape, dtype=torch.bfloat16)
        self._lost = np.empty(len(vectors))  # (M,) the length of what was rounded off
        for part in parts_of(len(vectors), _ROUNDED):
            some = torch.from_numpy(vectors[part])
            self._vectors[part] = some
            self._lost[part] = torch.linalg.vector_norm(some - self._vectors[part], dim=1)

    @classmethod
    def kept(cls, bits: np.ndarray, lost: np.ndarray) -> Self:
        """Return vectors that were rounded before; they are not copied.

        :param bits: (M, D) int16, those of bfloat16 numbers.
        :param lost: (M,) the length of what was rounded off.
        """
        import torch

        rounded = cls(np.zeros((0, bits.shape[1]), dtype=np.float32))
        rounded._vectors, rounded._lost = torch.from_numpy(bits).view(torch.bfloat16), lost
        return rounded

    @cached_property
    def _products(self) -> "torch.Tensor":
        import torch

        return torch.empty(_QUERIES * _PAPERS, dtype=torch.bfloat16)

    def at_least(
        self, least: np.ndarray, block: slice, papers: "Rounded", part: slice
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return pairs among which are all whose float32 product is above the least one.

        :param least: (Q,) of the queries of the block.
        :returns: (M,) places of queries in the block, ascending, and of papers in the part; None
            where a limit is not positive, or so many pairs are left that this does not pay.
        """
        import torch

        lost = self._lost[block]
        bound = lost + (1 + lost) * papers._lost[part].max() + _SUMMED * self._vectors.shape[1]
        limit = torch.from_numpy(least - bound).bfloat16()
        if limit.min() <= 0:
            return None
        asked, found = self._vectors[block], papers._vectors[part]
        products = self._products[: len(asked) * len(found)].view(len(asked), len(found))
        torch.mm(asked, found.T, out=products)
        # positive numbers have the order of their bits, and negative ones a negative sign
        is_left = products.view(torch.int16).numpy() >= limit.view(torch.int16).numpy()[:, None]
        left = np.flatnonzero(is_left)
        if len(left) > _MOST * is_left.size:
            return None
        return np.divmod(left, is_left.shape[1])


def parts_of(length: int, size: int) -> list[slice]:
    """Return slices of at most ``size`` that together are ``length`` long."""
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


@cache
def _multiplies_bfloat16() -> bool:
    """Return whether products of bfloat16 are there, and faster."""
    if find_spec("torch") is None:
        return False
    import torch

    from mpbert.pretrained.device import multiplies_bfloat16

    return multiplies_bfloat16(torch.device("cpu"))
