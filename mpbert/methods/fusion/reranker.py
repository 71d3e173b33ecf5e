"""Fusion: several rankings become one.

* ``reciprocal``: Cormack, Clarke and Büttcher (SIGIR 2009),  score(d) = Σ_i 1 / (k + rank_i(d)).
* ``learnt``: score(d) = w · f(q, d), with weights learnt on validation. For each ranking i the
  features are its score, from 0 for the last to 1 for the first paper of the list, 1 / (k + rank),
  and whether it has the paper; then, with ``priors=citations``, the logarithms of the paper's
  training citations up to the query's year, and of its age. The weights maximise the likelihood of
  the cited papers,

      Σ_q mean_{g cited by q} log ( exp(w·f(q, g)) / Σ_d exp(w·f(q, d)) ) - λ/2 · |w|²,

  over the union of the rankings; features are standardised before.

A paper that a ranking lacks has no score there: it gets 0 for all features of this ranking.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import RunError
from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.methods.rankings import Ranking, Union, union
from mpbert.methods.reranking import RERANKERS, Reranker
from mpbert.methods.training_citations import CitationsByYear

_PENALTY = 1e-4  # λ per query


@dataclass(frozen=True)
class Candidates:
    """The union of several rankings, and what weights are learnt for.

    :param papers: M of them.
    :param features: (M, F).
    """

    papers: Union
    features: np.ndarray


@RERANKERS.register
@dataclass
class Fusion(Reranker):
    """Reciprocal ranks, or a learnt sum of scores, ranks and priors."""

    name: ClassVar[str] = "fusion"
    num_inputs: ClassVar[tuple[int, int]] = (2, 99)
    method: str = setting("learnt", choices=("learnt", "reciprocal"))
    k: int = 60
    priors: str = setting("citations", choices=("none", "citations"))

    @property
    def learns_from(self) -> str:
        """Validation queries, where weights are learnt."""
        return "valid" if self.method == "learnt" else ""

    def fit(
        self,
        store: CorpusStore,
        queries: Queries,
        rankings: Sequence[Ranking],
        rng: np.random.Generator,
    ) -> dict[str, int]:
        """Learn the weights on the validation queries.

        :raises RunError: none of the cited papers is among those ranked.
        """
        found = self._candidates(store, queries, rankings)
        self._mean = found.features.mean(axis=0)
        self._spread = np.maximum(found.features.std(axis=0), 1e-9)
        gold = gold_shares(found.papers, queries, store.num_papers)
        if not gold.any():
            raise RunError(
                "none of the papers that validation queries cite is in the rankings to fuse; "
                "expected some, rank again with a larger --top"
            )
        weights = learn_weights(self._standardised(found), found.papers.offsets, gold)
        self.weights = np.round(weights, 5)  # sums of many threads differ in their last digits
        return {"candidates": len(gold), "candidates_cited": int((gold > 0).sum())}

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the union of the rankings by the new score."""
        if self.method == "reciprocal":
            return fuse_reciprocal(rankings, store.num_papers, self.k)
        found = self._candidates(store, queries, rankings)
        scores = np.einsum("mf,f->m", self._standardised(found), self.weights)
        return found.papers.ranking(scores)

    def _standardised(self, found: Candidates) -> np.ndarray:
        return (found.features - self._mean) / self._spread

    def _candidates(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]
    ) -> Candidates:
        found = union(rankings, store.num_papers)
        columns = [feature for r in rankings for feature in self._features(found, r, store)]
        if self.priors == "citations":
            years = queries.years[found.queries]
            age = years - store.years[found.rows]
            cited = _training_contexts(store).until(found.rows, years)
            columns += [np.log1p(cited), np.log1p(np.maximum(age, 0))]
        return Candidates(found, np.stack(columns, axis=1))

    def _features(self, found: Union, ranking: Ranking, store: CorpusStore) -> list[np.ndarray]:
        places = found.places_in(ranking, store.num_papers)  # (M,) rank from 0, or -1
        has = places >= 0
        scores = np.where(has, ranking.scaled_scores()[found.queries, places], 0.0)
        return [scores, reciprocal_ranks(places, self.k), has.astype(float)]


def _training_contexts(store: CorpusStore) -> CitationsByYear:
    training = store.contexts("train")
    years = np.repeat(training.years, np.diff(training.cited_offsets))
    return CitationsByYear(training.cited_rows, years)


def reciprocal_ranks(places: np.ndarray, k: int) -> np.ndarray:
    """Return 1 / (k + rank): Cormack, Clarke and Büttcher (SIGIR 2009).

    :param places: rank from 0; -1 for a paper that is not ranked, which gets 0.
    """
    return np.where(places >= 0, 1 / (k + places + 1), 0.0)


def fuse_reciprocal(rankings: Sequence[Ranking], num_papers: int, k: int = 60) -> Ranking:
    """Return the union of rankings by the sum of their reciprocal ranks; it needs no training.

    :param rankings: of the same queries.
    :param num_papers: N, more than any row.
    """
    found = union(rankings, num_papers)
    ranks = [reciprocal_ranks(found.places_in(r, num_papers), k) for r in rankings]
    return found.ranking(np.stack(ranks, axis=1).sum(axis=1))


def gold_shares(found: Union, queries: Queries, num_papers: int) -> np.ndarray:
    """Return (M,) 1 / G for papers that the query cites, G of them found; 0 for the others."""
    cited = row_numbers(np.diff(queries.cited_offsets)) * num_papers + queries.cited_rows
    is_cited = np.isin(found.queries * num_papers + found.rows, cited)
    counts = np.bincount(found.queries[is_cited], minlength=len(queries))
    return np.where(is_cited, 1 / np.maximum(counts, 1)[found.queries], 0.0)


def learn_weights(features: np.ndarray, offsets: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return (F,) weights that maximise the module's likelihood.

    :param features: (M, F).
    :param offsets: (Q + 1,) where the candidates of each query begin.
    :param gold: (M,) of :func:`gold_shares`; queries without any are left out.
    """
    lengths = np.diff(offsets)
    from scipy.optimize import minimize  # slow to import, and --help need not wait

    has_gold = np.bincount(row_numbers(lengths), weights=gold, minlength=len(lengths)) > 0
    kept = np.repeat(has_gold, lengths)
    features, gold, lengths = features[kept], gold[kept], lengths[has_gold]
    starts, query = offsets_of(lengths)[:-1], row_numbers(lengths)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = features @ weights
        scores -= np.maximum.reduceat(scores, starts)[query]
        exponentials = np.exp(scores)
        sums = np.add.reduceat(exponentials, starts)
        probabilities = exponentials / sums[query]
        value = (gold * (np.log(sums)[query] - scores)).sum() / len(lengths)
        gradient = features.T @ (probabilities - gold) / len(lengths)
        return value + _PENALTY / 2 * weights @ weights, gradient + _PENALTY * weights

    return minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x
