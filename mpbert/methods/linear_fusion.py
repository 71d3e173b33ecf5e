"""A linear fusion: several rankings become one by a sum of features with learnt weights, ours.

score(d) = w · f(q, d). For each ranking the features are its score, from 0 for the last to 1 for
the first paper of the list, 1 / (k + rank), and whether it has the paper; then, with priors, the
logarithms of the paper's training citations up to the query's year, and of its age. The weights
maximise the likelihood of the cited papers,

    Σ_q mean_{g cited by q} log ( exp(w·f(q, g)) / Σ_d exp(w·f(q, d)) ) - λ/2 · |w|²,

over the union of the rankings; features are standardised before.

A paper that a ranking lacks has no score there: it gets 0 for all features of this ranking.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.errors import RunError
from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.methods.learnt_features import tell_learnt, write_learnt
from mpbert.methods.rankings import Ranking, Union, reciprocal_ranks, union
from mpbert.methods.training_citations import citations_and_age

_PENALTY = 1e-4  # λ per query
_OF_A_RANKING, _PRIORS = ("score", "reciprocal_rank", "has_it"), ("citations", "age")


@dataclass(frozen=True)
class Candidates:
    """The union of several rankings, and what weights are learnt for.

    :param papers: M of them.
    :param features: (M, F).
    """

    papers: Union
    features: np.ndarray


@dataclass
class LinearFusion:
    """The fusion with its weights, once they are learnt.

    :param k: the constant of the reciprocal ranks.
    :param priors: whether training citations and age of a paper are features.
    :ivar weights: (F,) of the standardised features.
    """

    k: int = 60
    priors: bool = True
    weights: np.ndarray = field(init=False)

    def candidates(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]
    ) -> Candidates:
        """Return all papers that the rankings have, and their features."""
        found = union(rankings, store.num_papers)
        columns = [feature for r in rankings for feature in self._features(found, r, store)]
        if self.priors:
            columns += citations_and_age(store, found.rows, queries.years[found.queries])
        return Candidates(found, np.stack(columns, axis=1))

    def feature_names(self, input_names: Sequence[str]) -> list[str]:
        """Return (F,) names of the features.

        :param input_names: of the rankings.
        """
        of_rankings = [f"{name} {feature}" for name in input_names for feature in _OF_A_RANKING]
        return of_rankings + list(_PRIORS) * self.priors

    def fit(
        self, store: CorpusStore, queries: Queries, found: Candidates, names: Sequence[str]
    ) -> dict[str, int]:
        """Learn the weights from what the queries cite, and tell them.

        :param names: (F,) of the features.
        :returns: counts for the manifest.
        :raises RunError: none of the cited papers is among those ranked.
        """
        gold = found_gold(found.papers, queries, store.num_papers)
        self.learn(found, gold)
        self._names = list(names)
        tell_learnt("weight", self._names, self.weights)
        return {"candidates": len(gold), "candidates_cited": int((gold > 0).sum())}

    def save(self, directory: Path) -> None:
        """Write the weights, of standardised features, once :meth:`fit` was called."""
        write_learnt(directory, "weight", self._names, self.weights)

    def learn(self, found: Candidates, gold: np.ndarray) -> np.ndarray:
        """Learn the weights, and return the (M, F) standardised features.

        :param gold: (M,) of :func:`found_gold`.
        """
        self._mean = found.features.mean(axis=0)
        self._spread = np.maximum(found.features.std(axis=0), 1e-9)
        standardised = self._standardised(found)
        self.weights = rounded_weights(standardised, found.papers.offsets, gold)
        return standardised

    def scores(self, found: Candidates) -> np.ndarray:
        """Return the (M,) scores of candidates."""
        return sums(self._standardised(found), self.weights)

    def _standardised(self, found: Candidates) -> np.ndarray:
        return (found.features - self._mean) / self._spread

    def _features(self, found: Union, ranking: Ranking, store: CorpusStore) -> list[np.ndarray]:
        places = found.places_in(ranking, store.num_papers)  # (M,) rank from 0, or -1
        has = places >= 0
        scores = np.where(has, ranking.scaled_scores()[found.queries, places], 0.0)
        return [scores, reciprocal_ranks(places, self.k), has.astype(float)]


def found_gold(found: Union, queries: Queries, num_papers: int) -> np.ndarray:
    """Return (M,) of :func:`gold_shares`, of which some are above 0.

    :raises RunError: none of the cited papers is among those ranked.
    """
    gold = gold_shares(found, queries, num_papers)
    if not gold.any():
        raise RunError(
            "none of the papers that validation queries cite is in the rankings to fuse; "
            "expected some, rank again with a larger --top"
        )
    return gold


def gold_shares(found: Union, queries: Queries, num_papers: int) -> np.ndarray:
    """Return (M,) 1 / G for papers that the query cites, G of them found; 0 for the others."""
    cited = row_numbers(np.diff(queries.cited_offsets)) * num_papers + queries.cited_rows
    is_cited = np.isin(found.queries * num_papers + found.rows, cited)
    counts = np.bincount(found.queries[is_cited], minlength=len(queries))
    return np.where(is_cited, 1 / np.maximum(counts, 1)[found.queries], 0.0)


def sums(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return (M,) weighted sums of (M, F) features; the bits do not depend on threads."""
    return np.einsum("mf,f->m", features, weights)


def rounded_weights(
    features: np.ndarray, offsets: np.ndarray, gold: np.ndarray, known: np.ndarray | None = None
) -> np.ndarray:
    """Return (F,) of :func:`learn_weights`, to 5 digits.

    Sums of many threads differ in their last digits.
    """
    return np.round(learn_weights(features, offsets, gold, known), 5)


def learn_weights(
    features: np.ndarray, offsets: np.ndarray, gold: np.ndarray, known: np.ndarray | None = None
) -> np.ndarray:
    """Return (F,) weights that maximise the module's likelihood.

    :param features: (M, F).
    :param offsets: (Q + 1,) where the candidates of each query begin.
    :param gold: (M,) of :func:`gold_shares`; queries without any are left out.
    :param known: (M,) a part of the scores that is not learnt; None: there is none.
    """
    lengths = np.diff(offsets)
    known = np.zeros(len(gold)) if known is None else known
    from scipy.optimize import minimize  # slow to import, and --help need not wait

    has_gold = np.bincount(row_numbers(lengths), weights=gold, minlength=len(lengths)) > 0
    kept = np.repeat(has_gold, lengths)
    features, gold, known = features[kept], gold[kept], known[kept]
    lengths = lengths[has_gold]
    starts, query = offsets_of(lengths)[:-1], row_numbers(lengths)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = features @ weights + known
        scores -= np.maximum.reduceat(scores, starts)[query]
        exponentials = np.exp(scores)
        sums = np.add.reduceat(exponentials, starts)
        probabilities = exponentials / sums[query]
        value = (gold * (np.log(sums)[query] - scores)).sum() / len(lengths)
        gradient = features.T @ (probabilities - gold) / len(lengths)
        return value + _PENALTY / 2 * weights @ weights, gradient + _PENALTY * weights

    return minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x
