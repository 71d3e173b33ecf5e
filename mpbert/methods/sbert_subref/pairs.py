"""Training pairs of SBERT + SubRef (ICPR 2020, Sec. IV-C), from the citations of training papers.

An anchor is a paper, by its row, or a training context, by the number of papers plus its own. A
positive is a paper at a distance of 1 to D from it in the citation graph; all other papers of the
training split, but the anchor's own, are its negatives.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse

_BLOCK = 512  # anchors compared with all papers at once


@dataclass(frozen=True)
class Positives:
    """M pairs, ordered by anchor.

    :param anchors: (M,); ``papers`` (M,) rows; ``distances`` (M,) from 1.
    """

    anchors: np.ndarray
    papers: np.ndarray
    distances: np.ndarray

    def __len__(self) -> int:
        return len(self.anchors)

    def take(self, places: np.ndarray) -> "Positives":
        """Return some of the pairs."""
        return Positives(self.anchors[places], self.papers[places], self.distances[places])


def joined(*parts: Positives) -> Positives:
    """Return the pairs of all parts, whose anchors ascend from part to part."""
    return Positives(
        np.concatenate([part.anchors for part in parts]),
        np.concatenate([part.papers for part in parts]),
        np.concatenate([part.distances for part in parts]),
    )


def shortest_paths(
    citing: np.ndarray, cited: np.ndarray, num_papers: int, longest: int
) -> Positives:
    """Return all pairs of papers with a shortest path of at most ``longest`` citations.

    :param citing: (E,) rows; ``cited`` (E,) rows: the edges of the graph.
    """
    edges = np.unique(citing * num_papers + cited)
    edges = edges[edges // num_papers != edges % num_papers]
    graph = _matrix(edges, num_papers)
    known, distances, newest = edges, np.ones(len(edges), dtype=np.int64), edges
    for distance in range(2, longest + 1):
        rows, columns = (_matrix(newest, num_papers) @ graph).nonzero()
        other = rows != columns
        keys = rows[other].astype(np.int64) * num_papers + columns[other]
        newest = np.setdiff1d(keys, known)
        known = np.concatenate([known, newest])
        distances = np.concatenate([distances, np.full(len(newest), distance)])
    order = np.argsort(known)
    return Positives(known[order] // num_papers, known[order] % num_papers, distances[order])


def _matrix(keys: np.ndarray, num_papers: int) -> "sparse.csr_array":
    from scipy import sparse

    places = keys // num_papers, keys % num_papers
    return sparse.csr_array((np.ones(len(keys), np.int32), places), shape=(num_papers, num_papers))


def paper_positives(store: CorpusStore, longest: int) -> Positives:
    """Return training papers with the training papers at distances 1 to ``longest``."""
    known = store.manuscripts("train")
    citing = np.repeat(known.citing_rows, np.diff(known.cited_offsets)).astype(np.int64)
    is_training = store.paper_splits[known.cited_rows] == "train"
    cited = known.cited_rows[is_training].astype(np.int64)
    return shortest_paths(citing[is_training], cited, store.num_papers, longest)


def context_positives(store: CorpusStore) -> Positives:
    """Return training contexts with the training papers that they cite, at distance 1."""
    contexts = store.contexts("train")
    is_training = store.paper_splits[contexts.cited_rows] == "train"
    keys = row_numbers(np.diff(contexts.cited_offsets)) * store.num_papers + contexts.cited_rows
    keys = np.unique(keys[is_training])
    anchors = store.num_papers + keys // store.num_papers
    return Positives(anchors, keys % store.num_papers, np.ones(len(keys), dtype=np.int64))


class Negatives:
    """The papers that are neither positives of an anchor nor its own, by number.

    :param pool: (P,) rows to choose from, ascending.
    :param positives: pairs whose papers are no negatives of their anchors.
    :param own: (A,) row of each anchor: the paper itself, or the citing one of a context.
    """

    def __init__(self, pool: np.ndarray, positives: Positives, own: np.ndarray) -> None:
        self.pool = pool
        anchors = np.unique(positives.anchors)
        pairs = [positives.anchors, anchors], [positives.papers, own[anchors]]
        owners, rows = np.concatenate(pairs[0]), np.concatenate(pairs[1])
        places = np.searchsorted(pool, rows)
        keys = np.unique(owners * len(pool) + places)
        self._owners, self._places = keys // len(pool), keys % len(pool)
        counts = np.bincount(self._owners, minlength=len(own))
        self._starts = offsets_of(counts)
        self.sizes = len(pool) - counts  # (A,) negatives of each anchor
        # how many negatives stand before an excluded paper: ascending within an anchor
        before = self._places - (np.arange(len(keys)) - self._starts[self._owners])
        self._before = self._owners * (len(pool) + 1) + before

    def numbered(self, anchors: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return the row of each anchor's n-th negative, from 0, in the order of rows."""
        keys = anchors * (len(self.pool) + 1) + numbers
        skipped = np.searchsorted(self._before, keys, side="right") - self._starts[anchors]
        return self.pool[numbers + skipped]

    def sample(self, anchors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a random negative of each anchor, all alike."""
        return self.numbered(anchors, (rng.random(len(anchors)) * self.sizes[anchors]).astype(int))

    def excluded(self, anchors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return places (in ``anchors``, in the pool) of the papers that are no negatives."""
        starts, counts = self._starts[anchors], np.diff(self._starts)[anchors]
        return row_numbers(counts), self._places[ranges(starts, counts)]


def ranked_negatives(
    positives: Positives,
    negatives: Negatives,
    anchor_vectors: np.ndarray,
    pool_vectors: np.ndarray,
    nearest: bool,
) -> np.ndarray:
    """Return (M,) rows: for n pairs of an anchor its n nearest or farthest negatives, by cosine.

    An anchor with fewer negatives than positives begins with the first again.

    :param anchor_vectors: (U, D) of length 1, of the anchors in ascending order.
    :param pool_vectors: (P, D) of length 1.
    """
    anchors, counts = np.unique(positives.anchors, return_counts=True)
    starts = offsets_of(counts)[:-1]
    rows = np.empty(len(positives), dtype=np.int64)
    by_count = np.argsort(counts, kind="stable")  # so that a block wants about as many
    for first in progress(range(0, len(anchors), _BLOCK), "rank negatives", "block"):
        block = by_count[first : first + _BLOCK]
        closeness = anchor_vectors[block] @ pool_vectors.T  # (B, P)
        wanted = closeness if nearest else -closeness
        wanted[negatives.excluded(anchors[block])] = -np.inf
        most = min(int(counts[block].max()), len(negatives.pool))
        best = np.argpartition(-wanted, most - 1, axis=1)[:, :most]
        order = np.argsort(-np.take_along_axis(wanted, best, axis=1), axis=1, kind="stable")
        best = np.take_along_axis(best, order, axis=1)  # (B, most)
        of_block = row_numbers(counts[block])
        numbers = ranges(np.zeros(len(block)), counts[block])
        numbers %= negatives.sizes[anchors[block]][of_block]
        rows[ranges(starts[block], counts[block])] = negatives.pool[best[of_block, numbers]]
    return rows
