"""Search of a part of the papers, and of short codes of these: IVF and PQ of FAISS.

For millions of papers. A sample of the queries is searched exactly. The fewest lists are read with
which these queries find enough of their ten nearest papers, less one standard error; then fewer
candidates are scored as long as they still do. Where a large part of the lists is needed, all
papers are searched exactly. Scores are exact; what may happen is that a paper is missed.

The lists are learnt at the first search, of the candidates alone: each part of the papers has lists
of its own. Queries that are no more than the sample are all searched exactly.
"""

import logging
import math
from functools import cached_property
from typing import Self

import faiss
import numpy as np

from mpbert.foundation.seeding import named_rng
from mpbert.retrieval.dense import PAPERS, DenseIndex
from mpbert.retrieval.proposals import Proposals, Rounded, parts_of
from mpbert.vectors.normal import normalized

logger = logging.getLogger(__name__)

_SAMPLE = 256  # queries searched exactly
_NEAREST = 10  # papers of each of which
_RECALL = 0.98  # so large a share must be found
_SEED = 1  # of what lists are learnt from, and of the sample
_PER_LIST = 64  # papers a list is learnt from
_ROUNDS = 10  # of k-means
_CANDIDATES = (20, 10, 5, 3)  # by codes, for each paper wanted
_MOST = 4  # a part of the lists so large costs as much as exact search
_NEAR = 8  # lists are found to an eighth of their number
_FEWEST = 16  # papers that codes of four bits, and lists, are learnt from; fewer are all searched


class ApproximateIndex(DenseIndex):
    """All papers by their vectors, in about 4 sqrt(N) lists; a copy is held in memory.

    A code has 4 bits for each of the D dimensions; candidates by codes are then scored in bfloat16.
    """

    def within(self, papers: np.ndarray) -> Self:
        """Return an index of some of the papers, with lists of its own."""
        part = super().within(papers)
        if part is not self:
            part.__dict__.pop("_learnt", None)
        return part

    @cached_property
    def _learnt(self) -> "_Lists":
        dim, size = self._vectors.shape[1], len(self._rows)
        num_lists = max(1, int(4 * math.sqrt(size)))
        chosen = named_rng(_SEED, "papers of lists").permutation(size)
        chosen = np.sort(chosen[: _PER_LIST * num_lists])
        learnt = _Lists(dim, num_lists)
        learnt.index.train(self._unit(self._rows[chosen]))
        for part in parts_of(size, PAPERS):
            learnt.add(self._unit(self._rows[part]))
        return learnt

    def _propose(self, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`DenseIndex._propose`, by the rounded papers that are held, if any."""
        if "_learnt" not in self.__dict__:
            return super()._propose(queries, depth)
        proposals = Proposals(normalized(queries), depth, len(self._rows))
        if not proposals.rounds:
            return super()._propose(queries, depth)
        kept = self._learnt.rounded()
        proposals.add_kept(kept, lambda places: self._unit(self._rows[places]), self._rows)
        return proposals.rows, proposals.scores.min(axis=1)

    def search(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most similar papers of each query that were found, best first.

        As :meth:`DenseIndex.search`. Queries whose lists hold too few papers are searched exactly.
        """
        if len(self._rows) < _FEWEST or len(queries) <= _SAMPLE:
            return super().search(queries, k, excluded_rows)
        _ = self._learnt  # first: it holds rounded papers, by which the sample is searched
        rng = named_rng(_SEED, "queries searched exactly")
        sample = np.sort(rng.permutation(len(queries))[:_SAMPLE])
        nearest = min(k, _NEAREST)
        excluded_rows = np.broadcast_to(excluded_rows, len(queries))
        exact, _ = super().search(queries[sample], nearest, excluded_rows[sample])
        if not self._choose_effort(queries[sample], exact):
            return super().search(queries, k, excluded_rows)
        return self._search_lists(queries, k, excluded_rows)

    def _choose_effort(self, queries: np.ndarray, exact: np.ndarray) -> bool:
        """Set how many lists are read, and how many candidates scored, by queries searched exactly.

        :param exact: (Q, K) rows of their nearest papers.
        :returns: whether this is less work than exact search.
        """
        index, lists = self._learnt.index, self._learnt.lists
        means: dict[tuple[int, int], float] = {}

        def is_enough(num_lists: int, num_candidates: int) -> bool:
            lists.nprobe, index.k_factor = num_lists, num_candidates
            recalls = self._recalls(queries, exact)
            means[num_lists, num_candidates] = recalls.mean()
            return bool(recalls.mean() - recalls.std() / math.sqrt(len(recalls)) >= _RECALL)

        too_few, num_lists, num_candidates = 0, 1, _CANDIDATES[0]
        most = max(1, lists.nlist // _MOST)
        while not is_enough(num_lists, num_candidates):
            if num_lists == most:
                logger.info("so many of %d lists are needed that all are searched", lists.nlist)
                return False
            too_few, num_lists = num_lists, min(2 * num_lists, most)
        while num_lists - too_few > 1 + num_lists // _NEAR:
            between = (too_few + num_lists) // 2
            if is_enough(between, num_candidates):
                num_lists = between
            else:
                too_few = between
        for fewer in _CANDIDATES[1:]:
            if not is_enough(num_lists, fewer):
                break
            num_candidates = fewer
        lists.nprobe, index.k_factor = num_lists, num_candidates
        logger.info(
            "%d of %d lists, %d candidates: %.4f of the %d nearest papers found, by %d queries",
            num_lists, lists.nlist, num_candidates, means[num_lists, num_candidates],
            exact.shape[1], len(queries),
        )  # fmt: skip
        return True

    def _recalls(self, queries: np.ndarray, exact: np.ndarray) -> np.ndarray:
        """Return (Q,) shares of the nearest papers that are found with the present effort."""
        depth = min(exact.shape[1] + 1, len(self._rows))
        _, places = self._learnt.index.search(normalized(queries), depth)
        is_found = (self._rows[places][:, :, None] == exact[:, None]).any(axis=1)
        is_found |= (places < 0).any(axis=1)[:, None]  # searched exactly
        return is_found.mean(axis=1) if exact.size else np.ones(len(queries))

    def _search_lists(
        self, queries: np.ndarray, k: int, excluded_rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        k = self._num_ranked(k, excluded_rows)
        depth = min(k + 1, len(self._rows))
        _, places = self._learnt.index.search(normalized(queries), max(depth, 1))
        is_full = (places >= 0).all(axis=1)
        return self._rank_found(queries, k, excluded_rows, self._rows[places[is_full]], is_full)


class _Lists:
    """Papers as short codes, in lists, and in bfloat16, by which the candidates are scored.

    :param dim: D.
    :ivar index: of FAISS: asks the lists, then scores what these found.
    :ivar lists: the lists alone.
    """

    def __init__(self, dim: int, num_lists: int) -> None:
        what = f"IVF{num_lists},PQ{dim}x4fs,Refine(SQbf16)"
        self.index = faiss.index_factory(dim, what, faiss.METRIC_INNER_PRODUCT)
        self.lists = faiss.downcast_index(self.index.base_index)
        self._held = faiss.downcast_index(self.index.refine_index)
        self.lists.cp.niter, self.lists.cp.seed = _ROUNDS, _SEED
        self.lists.cp.min_points_per_centroid = 1
        self._lost: list[np.ndarray] = []  # (P,) each: the length of what was rounded off

    def add(self, papers: np.ndarray) -> None:
        """Add papers, (P, D) float32, no longer than 1."""
        self.index.add(papers)
        rounded = self._bits()[-len(papers) :]
        # FAISS cuts digits off, which errs twice as far
        rounded[:] = (papers.view(np.uint32) + 0x8000) >> 16
        lost = papers - (rounded.astype(np.uint32) << 16).view(np.float32)
        self._lost.append(np.sqrt(np.einsum("pd,pd->p", lost, lost)))

    def rounded(self) -> Rounded:
        """Return all papers, in the order in which they were added; they are not copied."""
        return Rounded.kept(self._bits().view(np.int16), np.concatenate(self._lost))

    def _bits(self) -> np.ndarray:
        codes = self._held.codes
        held = faiss.rev_swig_ptr(codes.data(), codes.size())
        return held.view(np.uint16).reshape(-1, self._held.d)
