"""Boosted trees for ranking: LambdaMART, as LightGBM has it.

Burges, MSR-TR-2010-82; Ke et al., LightGBM (NIPS 2017). The trees may add to the scores of another
model, which Burges proposes too: a few small trees then leave most of it as it is. The number of
trees is chosen by cross-validation over citing papers. Nothing is drawn at random, so no seed plays
a part.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpbert.foundation.ragged import offsets_of, row_numbers

if TYPE_CHECKING:
    from lightgbm import Booster, Dataset

# lightgbm is imported by the functions that need it: other rerankers shall not wait for it

_CUTOFF = 10  # of the measure that chooses how many trees
_PATIENCE = 50  # trees without a better one, after which no more are tried
_FEW = 1 << 18  # candidates for one thread: on a busy machine, two wait for each other for minutes


@dataclass(frozen=True)
class Lists:
    """Candidates of Q queries, to learn from.

    :param features: (M, F), query after query.
    :param is_cited: (M,).
    :param start: (M,) scores to which those of the trees are added.
    :param lengths: (Q,) candidates of each query.
    :param folds: (Q,) fold of each query; all queries of a citing paper are in one.
    """

    features: np.ndarray
    is_cited: np.ndarray
    start: np.ndarray
    lengths: np.ndarray
    folds: np.ndarray

    @property
    def teach(self) -> np.ndarray:
        """(Q,) whether a list holds a cited paper and one that is not cited."""
        query = row_numbers(self.lengths)
        cited = np.bincount(query, weights=self.is_cited, minlength=len(self.lengths))
        return (cited > 0) & (cited < self.lengths)

    def that_teach(self) -> "Lists":
        """Return the lists that hold a cited paper and one that is not cited."""
        kept = self.teach
        of_kept = kept[row_numbers(self.lengths)]
        by_candidate = (each[of_kept] for each in (self.features, self.is_cited, self.start))
        return Lists(*by_candidate, self.lengths[kept], self.folds[kept])

    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return, for each fold, the places of candidates outside of it, and of those in it."""
        of_each = self.folds[row_numbers(self.lengths)]
        return [
            (np.flatnonzero(of_each != fold), np.flatnonzero(of_each == fold))
            for fold in np.unique(self.folds)
        ]


@dataclass(frozen=True)
class TreeSettings:
    """How trees are grown.

    :param leaves: most leaves of a tree.
    :param smallest_leaf: fewest candidates in a leaf.
    :param learning_rate: factor of each tree.
    :param most_trees: that cross-validation tries.
    """

    leaves: int
    smallest_leaf: int
    learning_rate: float
    most_trees: int

    def parameters(self) -> dict[str, object]:
        """Return the parameters of LightGBM; OpenMP's setting says how many threads."""
        return {
            **{"objective": "lambdarank", "metric": "map", "eval_at": [_CUTOFF]},
            **{"num_leaves": self.leaves, "min_data_in_leaf": self.smallest_leaf},
            **{"learning_rate": self.learning_rate, "seed": 1, "deterministic": True},
            **{"force_row_wise": True, "num_threads": 0, "verbosity": -1},
        }


def folds_by_paper(citing_rows: np.ndarray, teaches: np.ndarray, num_folds: int) -> np.ndarray:
    """Return (Q,) the fold of each query, so that folds have about as many queries that teach.

    Papers with many queries are dealt first, each to the fold that has the fewest so far.

    :param citing_rows: (Q,) papers of the queries.
    :param teaches: (Q,) whether a query has a cited paper to learn from.
    """
    papers, of_query = np.unique(citing_rows, return_inverse=True)
    counts = np.bincount(of_query, weights=teaches, minlength=len(papers))
    sizes, folds = np.zeros(num_folds), np.zeros(len(papers), dtype=np.int64)
    for paper in np.argsort(-counts, kind="stable"):
        folds[paper] = sizes.argmin()
        sizes[folds[paper]] += counts[paper]
    return folds[of_query]


def learn_trees(lists: Lists, settings: TreeSettings) -> "Booster":
    """Return as many trees as are best in cross-validation, learnt from all lists.

    :param lists: of two folds or more, each list with a cited paper.
    """
    return grown(lists, settings, cross_validated(lists, settings)[0])


def cross_validated(lists: Lists, settings: TreeSettings) -> tuple[int, np.ndarray]:
    """Return how many trees rank held-out lists best, by MAP@10, and what they score them.

    :param lists: of two folds or more, each list with a cited paper.
    :returns: a number, and (M,) scores of candidates by trees that learnt on the other folds.
    """
    import lightgbm

    splits = lists.splits()
    found = lightgbm.cv(
        _parameters(lists, settings),
        _dataset(lists),
        settings.most_trees,
        folds=splits,
        callbacks=[lightgbm.early_stopping(_PATIENCE, verbose=False)],
        return_cvbooster=True,
    )
    [means] = [values for name, values in found.items() if name.endswith("-mean")]
    scores = lists.start.copy()
    for trees, (_, inside) in zip(found["cvbooster"].boosters, splits, strict=True):
        scores[inside] += trees.predict(lists.features[inside], num_iteration=len(means))
    return len(means), scores


def grown(lists: Lists, settings: TreeSettings, number: int) -> "Booster":
    """Return so many trees, learnt from all lists."""
    import lightgbm

    return lightgbm.train(_parameters(lists, settings), _dataset(lists), number)


def _parameters(lists: Lists, settings: TreeSettings) -> dict[str, object]:
    threads = {"num_threads": 1} if len(lists.features) < _FEW else {}
    return settings.parameters() | threads


def precisions(lists: Lists, scores: np.ndarray) -> np.ndarray:
    """Return the (Q,) average precision of each list among its first ten papers.

    The precision of a cited paper is a share of those up to its rank. A list's sum of them is
    divided by the number of its cited papers, ten at most.

    :param scores: (M,) by which the lists are ordered.
    """
    query = row_numbers(lists.lengths)
    order = np.lexsort((-scores, query))
    ranks = np.arange(len(query)) - offsets_of(lists.lengths)[:-1][query] + 1
    is_found = lists.is_cited[order] & (ranks <= _CUTOFF)
    earlier = offsets_of(np.bincount(query, weights=is_found).astype(np.int64))[:-1]
    shares = (np.cumsum(is_found) - earlier[query]) / ranks
    sums = np.bincount(query, weights=np.where(is_found, shares, 0.0))
    cited = np.bincount(query, weights=lists.is_cited)
    return sums / np.clip(cited, 1, _CUTOFF)


def _dataset(lists: Lists) -> "Dataset":
    import lightgbm

    labels, start = lists.is_cited.astype(int), lists.start
    return lightgbm.Dataset(lists.features, labels, group=lists.lengths, init_score=start)


def gains_of(trees: "Booster") -> np.ndarray:
    """Return (F,) what each feature brings to the loss, as a share of all: the gain of its splits.

    The shares are 0 where no tree has a split.
    """
    gains = trees.feature_importance("gain")
    return gains / max(gains.sum(), 1e-300)


def scores_by(trees: "Booster", features: np.ndarray) -> np.ndarray:
    """Return (M,) what the trees add to the scores of candidates, of which there may be none."""
    return np.asarray(trees.predict(features)) if len(features) else np.zeros(0)
