"""Boosted trees as plain arrays: what an index stores.

LightGBM grows them, see :mod:`mpbert.methods.lambdamart.trees`. An inner node sends a paper left
where the value of its feature is at most the threshold, else right. A value that is not known (NaN)
goes as LightGBM says: where the node knows none, it counts as 0.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from mpbert.foundation.ragged import distinct

if TYPE_CHECKING:
    from lightgbm import Booster

_UNKNOWN = ("None", "Zero", "NaN")  # LightGBM's kinds of nodes, by what they take for unknown
_ZERO, _NAN = 1, 2
SMALL = 1e-35  # LightGBM's zero


@dataclass(frozen=True)
class TreeArrays:
    """T trees of I inner nodes and L leaves, which are numbered through all trees.

    A node below 0 is a leaf: ``-1 - leaf``.

    :param roots: (T,) int32 nodes.
    :param features: (I,) int32 column that an inner node reads; ``thresholds`` (I,) float64.
    :param left: (I,) int32 nodes, as ``right``.
    :param unknown: (I,) uint8, what the node takes for unknown: 0 nothing, 1 also 0, 2 NaN.
    :param unknown_left: (I,) bool, whether the unknown goes left.
    :param values: (L,) float64 of leaves.
    """

    roots: np.ndarray
    features: np.ndarray
    thresholds: np.ndarray
    left: np.ndarray
    right: np.ndarray
    unknown: np.ndarray
    unknown_left: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def num_features(self) -> int:
        """Columns that the trees read, at least."""
        return int(self.features.max(initial=-1)) + 1

    def goes_left(self, values: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """Return (K,) whether inner nodes send the papers left whose feature has these values."""
        kind, is_nan = self.unknown[nodes], np.isnan(values)
        known = np.where(is_nan & (kind != _NAN), 0.0, values)
        is_unknown = (kind == _NAN) & is_nan | (kind == _ZERO) & (np.abs(known) <= SMALL)
        return np.where(is_unknown, self.unknown_left[nodes], known <= self.thresholds[nodes])

    @property
    def zero_is_unknown(self) -> np.ndarray:
        """(F,) whether the nodes that read a feature take 0 for unknown."""
        return np.bincount(self.features, self.unknown == _ZERO, self.num_features) > 0

    def check(self, num_features: int) -> None:
        """Check that each paper reaches a leaf of each tree.

        :param num_features: columns that the trees may read.
        :raises ValueError: the arrays do not fit one another; a node or a leaf has no parent or
            several, or stands before it; or nodes of a feature take different values for unknown.
        """
        num_inner, num_leaves = len(self.features), len(self.values)
        by_node = (getattr(self, name) for name in ARRAYS[1:-1])
        if any(array.shape != (num_inner,) for array in by_node):
            raise ValueError("arrays of inner nodes have different lengths")
        numbers = np.arange(num_inner)
        for children in (self.left, self.right):
            if np.any((children >= 0) & (children <= numbers)):
                raise ValueError("a node stands before its parent")
        nodes = np.concatenate([self.roots, self.left, self.right])
        if np.any((nodes >= num_inner) | (nodes < -num_leaves)):
            raise ValueError("a node has no leaf and no inner node below it")
        parents = np.bincount(np.concatenate([nodes[nodes >= 0], num_inner - 1 - nodes[nodes < 0]]))
        if np.any(parents != 1) or len(parents) != num_inner + num_leaves:
            raise ValueError("a node or a leaf has no parent, or several")
        if np.any((self.features < 0) | (self.features >= num_features)):
            raise ValueError(f"a node reads none of {num_features} features")
        kinds = distinct(3 * self.features.astype(np.int64) + self.unknown)
        if len(kinds) > len(distinct(self.features)):
            raise ValueError("nodes of a feature take different values for unknown")
        if not np.isfinite(self.values).all() or np.isnan(self.thresholds).any():
            raise ValueError("a leaf or a threshold is no finite number")


ARRAYS = tuple(field.name for field in fields(TreeArrays))
_TYPES = dict(zip(ARRAYS, ("i4", "i4", "f8", "i4", "i4", "u1", "?", "f8"), strict=True))


def typed_arrays(columns: dict[str, Any]) -> TreeArrays:
    """Return the trees of lists or arrays of their numbers, by name.

    :raises KeyError: one is missing.
    :raises ValueError: one has more than one dimension, or holds no numbers.
    """
    made = {name: np.asarray(columns[name], dtype=_TYPES[name]) for name in ARRAYS}
    if any(array.ndim != 1 for array in made.values()):
        raise ValueError("an array has more than one dimension")
    return TreeArrays(**made)


def arrays_of(trees: "Booster") -> TreeArrays:
    """Return LightGBM's trees; all splits are of numbers."""
    columns: dict[str, list] = {name: [] for name in ARRAYS}
    for tree in trees.dump_model()["tree_info"]:
        columns["roots"].append(_add(tree["tree_structure"], columns))
    return typed_arrays(columns)


def _add(node: dict[str, Any], columns: dict[str, list]) -> int:
    """Add a node, then those below it, and return its number."""
    if "leaf_value" in node:
        columns["values"].append(node["leaf_value"])
        return -len(columns["values"])
    number = len(columns["features"])
    columns["features"].append(node["split_feature"])
    columns["thresholds"].append(node["threshold"])
    columns["unknown"].append(_UNKNOWN.index(node["missing_type"]))
    columns["unknown_left"].append(node["default_left"])
    for side in ("left", "right"):
        columns[side].append(0)
    for side in ("left", "right"):
        columns[side][number] = _add(node[f"{side}_child"], columns)
    return number
