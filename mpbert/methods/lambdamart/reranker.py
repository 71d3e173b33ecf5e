"""LambdaMART over the first papers of a fusion, learnt on validation.

Candidates are the first papers of the linear fusion (:mod:`mpbert.methods.linear_fusion`); papers
beyond them keep its order. Boosted trees (:mod:`mpbert.methods.lambdamart.trees`) read features of
each ranking, of the fusion, and of the paper, and what the candidates tell of one another
(:mod:`mpbert.methods.lambdamart.features`).

Fusion and trees learn from the same validation queries. A fusion knows the queries that it learnt
from better than others, and trees would trust it too much. So the validation papers are dealt into
folds. The candidates of a fold, and their scores by the fusion, come from weights that were learnt
on the other folds. The same folds choose how many trees there are. The rankings to fuse should have
learnt from training alone, so that they need no such care. A list whose few weights were learnt on
these queries, and which a network then sorted, is taken as it is.

With ``start=fusion`` the trees add to the scores of the fusion, with ``none`` they begin from 0. Of
candidates with the same score, the fusion decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import CorpusError, RunError
from mpbert.methods.lambdamart.features import (
    METADATA,
    RELATIONS,
    candidates_of,
    feature_names,
    features_of,
    metadata_features,
    relation_features,
)
from mpbert.methods.lambdamart.trees import (
    Lists,
    TreeSettings,
    folds_by_paper,
    gains_of,
    learn_trees,
    scores_by,
)
from mpbert.methods.learnt_features import tell_learnt, write_learnt
from mpbert.methods.linear_fusion import (
    Candidates,
    LinearFusion,
    found_gold,
    gold_shares,
    rounded_weights,
    sums,
)
from mpbert.methods.paper_parts import read_parts
from mpbert.methods.rankings import Ranking
from mpbert.methods.reranking import RERANKERS, Reranker

_TIE = 1e-9  # less than a difference of scores that matters


@RERANKERS.register
@dataclass
class LambdaMart(Reranker):
    """Trees over the first papers of a linear fusion.

    ``depth``: candidates of a query; ``folds`` of cross-validation; ``leaves`` of a tree, at most,
    and ``smallest_leaf``, candidates in a leaf, at least; ``most_trees`` that are tried;
    ``start`` of the scores; ``relations``: whether what the candidates tell of one another is read;
    ``metadata`` to read.
    """

    name: ClassVar[str] = "lambdamart"
    learns_from: ClassVar[str] = "valid"
    quick: ClassVar[tuple[str, ...]] = ("most_trees=20", "leaves=7", "depth=20")
    num_inputs: ClassVar[tuple[int, int]] = (2, 99)
    depth: int = setting(100, minimum=2)
    folds: int = setting(5, minimum=2)
    leaves: int = setting(31, minimum=2)
    smallest_leaf: int = 100
    learning_rate: float = 0.05
    most_trees: int = 500
    start: str = setting("fusion", choices=("fusion", "none"))
    relations: bool = False
    metadata: str = setting("none", choices=("none", "authors", "venue", "authors+venue"))

    def __post_init__(self) -> None:
        self._fusion = LinearFusion()

    @property
    def _metadata(self) -> list[str]:
        return [] if self.metadata == "none" else self.metadata.split("+")

    def check(self, store: CorpusStore) -> None:
        """Refuse a corpus without the metadata that are asked for."""
        for of in self._metadata:
            if not read_parts(store, of).num_parts:
                raise CorpusError(
                    f"{store.path / 'papers.parquet'}: no paper names its {of}, which "
                    f"metadata={self.metadata} reads; expected some, choose metadata=none"
                )

    def fit(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking], rng: Generator
    ) -> dict[str, int]:
        """Learn fusion and trees on the validation queries.

        :raises RunError: fewer than two validation papers have cited papers among those ranked.
        """
        found = self._fusion.candidates(store, queries, rankings)
        gold = found_gold(found.papers, queries, store.num_papers)
        folds = self._folds(queries, found, gold)
        standardised = self._fusion.learn(found, gold)
        held_out = held_out_scores(standardised, found, gold, folds)
        first = found.papers.ranking(held_out).first(self.depth)
        papers = candidates_of(first)
        is_cited = gold_shares(papers, queries, store.num_papers) > 0
        features = self._features(store, queries, rankings, first)
        start, lengths = self._start(first), np.diff(papers.offsets)
        lists = Lists(features, is_cited, start, lengths, folds).that_teach()
        _check_folds(lists.folds)
        settings = TreeSettings(
            self.leaves, self.smallest_leaf, self.learning_rate, self.most_trees
        )
        self.trees = learn_trees(lists, settings)
        self._inputs = self.names_of(rankings)
        tell_learnt("gain", self._feature_names(), gains_of(self.trees))
        return {
            **{"candidates": len(is_cited), "candidates_cited": int(is_cited.sum())},
            **{"lists": len(lists.lengths), "trees": self.trees.num_trees()},
        }

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the union of the rankings: the first papers by the trees, then by the fusion."""
        found = self._fusion.candidates(store, queries, rankings)
        fused = found.papers.ranking(self._fusion.scores(found))
        first = fused.first(self.depth)
        scores = np.full(first.rows.shape, -np.inf)
        features = self._features(store, queries, rankings, first)
        scores[first.rows >= 0] = self._start(first) + scores_by(self.trees, features)
        scores -= _TIE * np.arange(scores.shape[1])
        return fused.reordered(scores)

    def save(self, directory: Path) -> None:
        """Write the trees as LightGBM's text, the gains, and the weights of the fusion."""
        text = self.trees.model_to_string()
        (directory / "trees.txt").write_text(text, encoding="utf-8")
        write_learnt(directory, "gain", self._feature_names(), gains_of(self.trees))
        names = self._fusion.feature_names(self._inputs)
        write_learnt(directory, "weight", names, self._fusion.weights, "fusion.json")

    def _feature_names(self) -> list[str]:
        more = [name for of in self._metadata for name in METADATA[of]]
        return feature_names(self._inputs) + RELATIONS * self.relations + more

    def _start(self, first: Ranking) -> np.ndarray:
        """Return (M,) scores to which the trees add."""
        scores = first.scores[first.rows >= 0]
        return scores if self.start == "fusion" else np.zeros(len(scores))

    def _features(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking], first: Ranking
    ) -> np.ndarray:
        features, papers = features_of(store, queries, rankings, first), candidates_of(first)
        citing = queries.citing_rows[papers.queries]
        more = [
            column
            for of in self._metadata
            for column in metadata_features(store, of, citing, papers.rows)
        ]
        related = relation_features(store, queries, first) if self.relations else []
        return np.column_stack([features, *related, *more])

    def _folds(self, queries: Queries, found: Candidates, gold: np.ndarray) -> np.ndarray:
        teaches = np.bincount(found.papers.queries, weights=gold, minlength=len(queries)) > 0
        papers = len(np.unique(queries.citing_rows[teaches]))
        return folds_by_paper(queries.citing_rows, teaches, max(min(self.folds, papers), 1))


def held_out_scores(
    standardised: np.ndarray, found: Candidates, gold: np.ndarray, folds: np.ndarray
) -> np.ndarray:
    """Return (M,) scores of candidates by a fusion that learnt on the other folds.

    :param standardised: (M, F).
    :param gold: (M,) of :func:`mpbert.methods.linear_fusion.gold_shares`.
    :param folds: (Q,) fold of each query.
    """
    scores, of_each = np.zeros(len(standardised)), folds[found.papers.queries]
    for fold in np.unique(folds):
        elsewhere = np.where(of_each == fold, 0.0, gold)
        if elsewhere.any():
            weights = rounded_weights(standardised, found.papers.offsets, elsewhere)
            scores[of_each == fold] = sums(standardised[of_each == fold], weights)
    return scores


def _check_folds(folds: np.ndarray) -> None:
    """Check that cross-validation has something to learn from, and something to measure by.

    :raises RunError: it has not.
    """
    if len(np.unique(folds)) < 2:
        raise RunError(
            "the rankings to fuse hold cited papers for fewer than two validation papers; expected "
            "two or more, for cross-validation: rank again with a larger --top, or choose "
            "--reranker fusion"
        )
