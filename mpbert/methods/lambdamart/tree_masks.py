"""Trees that are asked, with numpy alone: QuickScorer, Lucchese et al. (SIGIR 2015), Sec. 3.

A node that sends a paper right takes the leaves below its left child from the paper. The paper ends
in the first leaf that no node takes. The authors go through the nodes one by one. Here a table
holds, for each feature and each place among its thresholds, the leaves that all its nodes leave.

Symbols: T trees, I inner nodes, F features, M papers, R rows of the table.
"""

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
        trees, left, self._values = _numbered_leaves(arrays)
        self._thresholds, tables = [], [np.zeros((0, len(arrays)), dtype=np.uint64)]
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
            self._thresholds.append(thresholds)
            tables.append(table)
        # (R, T) masks: for each feature, those of its places, that of 0 and that of NaN
        bits = np.uint32 if self._values.shape[1] <= 32 else np.uint64  # half as much to read
        self._masks = np.concatenate(tables).astype(bits)
        self._starts = np.cumsum([0, *map(len, tables[1:])])[:, None]  # (F + 1, 1) rows
        self._zero_is_unknown = arrays.zero_is_unknown[:, None]

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Return (M,) the sums of the leaves in which papers end, of some hundred papers at most.

        :param features: (M, F) float64, NaN where one is not known.
        """
        columns = features.T[: len(self._thresholds)]  # (F, M)
        places = [each.searchsorted(x) for each, x in zip(self._thresholds, columns, strict=True)]
        rows = np.array(places, dtype=np.intp).reshape(columns.shape) + self._starts[:-1]
        ends = self._starts[1:]
        is_zero = self._zero_is_unknown & (np.abs(columns) <= SMALL)
        rows = np.where(is_zero, ends - 2, np.where(np.isnan(columns), ends - 1, rows))
        left = np.bitwise_and.reduce(self._masks.take(rows, axis=0), axis=0)  # (M, T)
        first = np.frexp((left & -left).astype(np.float64))[1] - 1  # number of the lowest bit
        num_trees, most = self._values.shape
        return self._values.ravel().take(first + most * np.arange(num_trees)).sum(axis=1)


def _numbered_leaves(arrays: TreeArrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number the leaves of each tree from left to right.

    :returns: (I,) trees of the nodes; (I,) uint64 leaves that a node leaves to a paper which it
        sends right; (T, most leaves of a tree) values.
    """
    trees = np.zeros(len(arrays.features), dtype=np.intp)
    first, end = np.zeros((2, len(arrays.features)), dtype=np.uint64)
    values, most = np.zeros((len(arrays), MOST_LEAVES)), 0
    for tree, root in enumerate(arrays.roots.tolist()):
        ahead, number = [(root, False)], 0
        while ahead:
            node, left_is_done = ahead.pop()
            if number == MOST_LEAVES:
                raise ValueError(f"a tree has more than {MOST_LEAVES} leaves")
            if node < 0:
                values[tree, number] = arrays.values[-1 - node]
                number += 1
            elif left_is_done:
                end[node] = number
                ahead.append((int(arrays.right[node]), False))
            else:
                trees[node], first[node] = tree, number
                ahead += [(node, True), (int(arrays.left[node]), False)]
        most = max(most, number)
    one = np.uint64(1)
    return trees, ~(((one << (end - first)) - one) << first), values[:, :most].copy()
