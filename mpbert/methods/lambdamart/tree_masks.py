"""Trees that are asked, with numpy alone: QuickScorer, Lucchese et al. (SIGIR 2015), Sec. 3.

A node that sends a paper right takes the leaves below its left child from the paper. The paper ends
in the first leaf that no node takes. The authors go through the nodes one by one. Here a table
holds, for each feature and each place among its thresholds, the leaves that all its nodes leave.

Symbols: T trees, I inner nodes, F features, M papers, R rows of the table.
"""

from functools import cached_property

import numpy as np

from mpbert.foundation.ragged import distinct
from mpbert.methods.lambdamart.tree_arrays import SMALL, TreeArrays

MOST_LEAVES = 64  # of a tree: bits of a mask


class TreeMasks:
    """The leaves of T trees as bits of masks.

    :param arrays: which have passed their check.
    :raises ValueError: a tree has more leaves than ``MOST_LEAVES``.
    """

    def __init__(self, arrays: TreeArrays) -> None:
        self.arrays = arrays
        self._trees, self._left, self._values = _numbered_leaves(arrays)
        self._zero_is_unknown = arrays.zero_is_unknown[:, None]

    @cached_property
    def _tables(self) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
        """Thresholds of each feature; (R, T) masks; (F + 1, 1) rows at which those of each begin.

        The masks of a feature are those of its places, that of 0 and that of NaN.
        """
        arrays, trees, left = self.arrays, self._trees, self._left
        of_features, tables = [], [np.zeros((0, len(arrays)), dtype=np.uint64)]
        for feature in range(arrays.num_features):
            nodes = np.flatnonzero(arrays.features == feature)
            thresholds = distinct(arrays.thresholds[nodes])
            table = np.full((len(thresholds) + 3, len(arrays)), ~np.uint64(0))
            behind = 1 + np.searchsorted(thresholds, arrays.thresholds[nodes])
            np.bitwise_and.at(table, (behind, trees[nodes]), left[nodes])
            np.bitwise_and.accumulate(table[:-2], axis=0, out=table[:-2])
            for row, value in ((-2, 0.0), (-1, np.nan)):
                right = nodes[~arrays.goes_left(np.full(len(nodes), value), nodes)]
                np.bitwise_and.at(table[row], trees[right], left[right])
            of_features.append(thresholds)
            tables.append(table)
        bits = np.uint32 if self._values.shape[1] <= 32 else np.uint64  # half as much to read
        starts = np.cumsum([0, *map(len, tables[1:])])[:, None]
        return of_features, np.concatenate(tables).astype(bits), starts

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Return (M,) the sums of the leaves in which papers end, of some hundred papers at most.

        :param features: (M, F) float64, NaN where one is not known.
        """
        thresholds, masks, starts = self._tables
        columns = features.T[: len(thresholds)]  # (F, M)
        places = [each.searchsorted(x) for each, x in zip(thresholds, columns, strict=True)]
        rows = np.array(places, dtype=np.intp).reshape(columns.shape) + starts[:-1]
        ends = starts[1:]
        is_zero = self._zero_is_unknown & (np.abs(columns) <= SMALL)
        rows = np.where(is_zero, ends - 2, np.where(np.isnan(columns), ends - 1, rows))
        left = np.bitwise_and.reduce(masks.take(rows, axis=0), axis=0)  # (M, T)
        first = np.bitwise_count(~left & (left - 1))  # number of the lowest bit
        num_trees, most = self._values.shape
        return self._values.ravel().take(first + most * np.arange(num_trees)).sum(axis=1)


def _numbered_leaves(arrays: TreeArrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number the leaves of each tree from left to right.

    :returns: (I,) trees of the nodes; (I,) uint64 leaves that a node leaves to a paper which it
        sends right; (T, most leaves of a tree) values.
    """
    left, right, num_inner = arrays.left, arrays.right, len(arrays.features)
    # of inner nodes, and from the end on of leaves, as nodes number them
    trees, first = np.zeros((2, num_inner + len(arrays.values)), dtype=np.intp)
    sizes = np.ones_like(trees)  # leaves below
    trees[arrays.roots] = np.arange(len(arrays))
    level, levels = arrays.roots, []
    while len(level := level[level >= 0]):
        levels.append(level)
        trees[left[level]] = trees[right[level]] = trees[level]
        level = np.concatenate([left[level], right[level]])
    for level in reversed(levels):
        sizes[level] = sizes[left[level]] + sizes[right[level]]
    if sizes.max(initial=1) > MOST_LEAVES:
        raise ValueError(f"a tree has more than {MOST_LEAVES} leaves")
    for level in levels:
        first[left[level]] = first[level]
        first[right[level]] = first[level] + sizes[left[level]]
    values = np.zeros((len(arrays), sizes[arrays.roots].max(initial=0)))
    leaves = -1 - np.arange(len(arrays.values))
    values[trees[leaves], first[leaves]] = arrays.values
    one, taken, before = np.uint64(1), *(x.astype(np.uint64) for x in (sizes[left], first))
    return trees[:num_inner], ~(((one << taken) - one) << before[:num_inner]), values
