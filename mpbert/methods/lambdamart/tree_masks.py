"""Which leaves papers reach: QuickScorer, Lucchese et al. (SIGIR 2015), Sec. 3, with numpy alone.

A node that sends a paper right takes from its tree the leaves below its left child. What all nodes
of a feature take together depends on where its value lies among their thresholds, so it is looked
up. A paper's leaf is the first that no feature takes.
"""

import numpy as np

from mpbert.methods.lambdamart.tree_arrays import SMALL, TreeArrays

MOST_LEAVES = 64  # of a tree: bits of a mask


class TreeMasks:
    """T trees that are asked, with numpy alone; F features.

    :param trees: each node and leaf of which has one parent, or is a root.
    :raises ValueError: a tree has more leaves than ``MOST_LEAVES``.
    """

    def __init__(self, trees: TreeArrays) -> None:
        self.trees = trees
        trees_of, kept = self._number_leaves(trees)
        self._thresholds, masks = [], [np.zeros((0, len(trees)), dtype=np.uint64)]
        for feature in range(trees.num_features):
            nodes = np.flatnonzero(trees.features == feature)
            thresholds = np.unique(trees.thresholds[nodes])
            table = np.full((len(thresholds) + 3, len(trees)), ~np.uint64(0))
            behind = 1 + np.searchsorted(thresholds, trees.thresholds[nodes])
            np.bitwise_and.at(table, (behind, trees_of[nodes]), kept[nodes])
            np.bitwise_and.accumulate(table[:-2], axis=0, out=table[:-2])
            for row, value in ((-2, 0.0), (-1, np.nan)):
                right = nodes[~trees.goes_left(np.full(len(nodes), value), nodes)]
                np.bitwise_and.at(table[row], trees_of[right], kept[right])
            self._thresholds.append(thresholds)
            masks.append(table)
        # of a feature: by place, then for 0 and for NaN; few bits, for they are read at random
        self._masks = np.concatenate(masks).astype(np.uint32 if self._most <= 32 else np.uint64)
        self._starts = np.cumsum([0, *map(len, masks[1:])])[:, None]
        self._zero_is_unknown = trees.zero_is_unknown[:, None]

    def _number_leaves(self, trees: TreeArrays) -> tuple[np.ndarray, np.ndarray]:
        """Number the leaves; return (I,) tree of each node, and (I,) masks of what it keeps."""
        trees_of = np.zeros(len(trees.features), dtype=np.intp)
        first, end = np.zeros((2, len(trees.features)), dtype=np.uint64)
        self._values, self._most = np.zeros((len(trees), MOST_LEAVES)), 0
        for tree, root in enumerate(trees.roots.tolist()):
            ahead, number = [(root, False)], 0
            while ahead:
                node, left_is_done = ahead.pop()
                if number == MOST_LEAVES:
                    raise ValueError(f"a tree has more than {MOST_LEAVES} leaves")
                if node < 0:
                    self._values[tree, number] = trees.values[-1 - node]
                    number += 1
                elif left_is_done:
                    end[node] = number
                    ahead.append((int(trees.right[node]), False))
                else:
                    trees_of[node], first[node] = tree, number
                    ahead += [(node, True), (int(trees.left[node]), False)]
            self._most = max(self._most, number)
        one = np.uint64(1)
        return trees_of, ~(((one << (end - first)) - one) << first)

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Return (M,) the sums of the leaves that papers reach.

        :param features: (M, F) float64, NaN where one is not known.
        """
        columns = features.T[: len(self._thresholds)]  # (F, M)
        places = [each.searchsorted(x) for each, x in zip(self._thresholds, columns, strict=True)]
        places = np.array(places, dtype=np.intp).reshape(columns.shape) + self._starts[:-1]
        ends = self._starts[1:]
        is_zero = self._zero_is_unknown & (np.abs(columns) <= SMALL)
        places = np.where(is_zero, ends - 2, np.where(np.isnan(columns), ends - 1, places))
        left = np.bitwise_and.reduce(self._masks.take(places, axis=0), axis=0)  # (M, T)
        lowest = (left & -left).astype(np.float64)
        leaves = np.frexp(lowest)[1] - 1
        places = leaves + MOST_LEAVES * np.arange(len(self._values))
        return self._values.ravel().take(places).sum(axis=1)
