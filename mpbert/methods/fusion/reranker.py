"""Fusion: several rankings become one.

* ``reciprocal``: Cormack, Clarke and Büttcher (SIGIR 2009),  score(d) = Σ_i 1 / (k + rank_i(d)).
* ``learnt``: score(d) = w · f(q, d), with weights learnt on validation. For each ranking i the
  features are its score, from 0 for the last to 1 for the first paper of the list, 1 / (k + rank),
  and whether it has the paper; then, with ``priors=citations``, the logarithms of the paper's
  training citations and of its age. The weights maximise the likelihood of the cited papers,

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
from mpbert.methods.reranking import RERANKERS, Ranking, Reranker, sorted_ranking

_PENALTY = 1e-4  # λ per query


@dataclass(frozen=True)
class Candidates:
    """The union of several rankings, query after query.

    :param offsets: (Q + 1,) where the candidates of each query begin.
    :param rows: (M,) their papers, ascending in each query.
    :param features: (M, F).
    """

    offsets: np.ndarray
    rows: np.ndarray
    features: np.ndarray

    @property
    def queries(self) -> np.ndarray:
        """(M,) the query of each."""
        return row_numbers(np.diff(self.offsets))


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
        gold = gold_shares(found, queries, store.num_papers)
        if not gold.any():
            raise RunError(
                "none of the papers that validation queries cite is in the rankings to fuse; "
                "expected some, rank again with a larger --top"
            )
        weights = learn_weights(self._standardised(found), found.offsets, gold)
        self.weights = np.round(weights, 5)  # sums of many threads differ in their last digits
        return {"candidates": len(found.rows), "candidates_cited": int((gold > 0).sum())}

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the union of the rankings by the new score."""
        if self.method == "reciprocal":
            return fuse_reciprocal(rankings, store.num_papers, self.k)
        found = self._candidates(store, queries, rankings)
        scores = np.einsum("mf,f->m", self._standardised(found), self.weights)
        return ranking_of(found, scores)

    def _standardised(self, found: Candidates) -> np.ndarray:
        return (found.features - self._mean) / self._spread

    def _candidates(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]
    ) -> Candidates:
        found = union(rankings, store.num_papers)
        columns = [feature for r in rankings for feature in self._features(found, r, store)]
        if self.priors == "citations":
            cited = np.bincount(store.contexts("train").cited_rows, minlength=store.num_papers)
            age = queries.years[found.queries] - store.years[found.rows]
            columns += [np.log1p(cited[found.rows]), np.log1p(np.maximum(age, 0))]
        return Candidates(found.offsets, found.rows, np.stack(columns, axis=1))

    def _features(
        self, found: Candidates, ranking: Ranking, store: CorpusStore
    ) -> list[np.ndarray]:
        places = places_in(found, ranking, store.num_papers)  # (M,) rank from 0, or -1
        has = places >= 0
        finite = np.where(ranking.rows >= 0, ranking.scores, np.nan)
        finite[(ranking.rows < 0).all(axis=1)] = 0.0
        best, worst = np.nanmax(finite, axis=1), np.nanmin(finite, axis=1)
        scale = np.where(best > worst, best - worst, 1.0)
        scores = (finite[found.queries, places] - worst[found.queries]) / scale[found.queries]
        reciprocal = reciprocal_ranks(places, self.k)
        return [np.where(has, scores, 0.0), reciprocal, has.astype(float)]


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
    ranks = [reciprocal_ranks(places_in(found, r, num_papers), k) for r in rankings]
    return ranking_of(found, np.stack(ranks, axis=1).sum(axis=1))


def union(rankings: Sequence[Ranking], num_papers: int) -> Candidates:
    """Return all papers that any ranking has, without features."""
    keys = np.unique(np.concatenate([_keys(ranking, num_papers) for ranking in rankings]))
    counts = np.bincount(keys // num_papers, minlength=len(rankings[0].rows))
    return Candidates(offsets_of(counts), keys % num_papers, np.zeros((len(keys), 0)))


def places_in(found: Candidates, ranking: Ranking, num_papers: int) -> np.ndarray:
    """Return (M,) the rank of each candidate in a ranking, from 0; -1 where it is not there."""
    queries, ranks = np.nonzero(ranking.rows >= 0)
    keys = queries * num_papers + ranking.rows[queries, ranks]
    order = np.argsort(keys)
    wanted = found.queries * num_papers + found.rows
    if not len(keys):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    return np.where(keys[order[at]] == wanted, ranks[order[at]], -1)


def gold_shares(found: Candidates, queries: Queries, num_papers: int) -> np.ndarray:
    """Return (M,) 1 / G for candidates that the query cites, G of them found; 0 for the others."""
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


def ranking_of(found: Candidates, scores: np.ndarray) -> Ranking:
    """Return candidates by their scores, as a ranking."""
    lengths = np.diff(found.offsets)
    shape = (len(lengths), int(lengths.max(initial=1)))
    rows, matrix = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf)
    places = found.queries, np.arange(len(scores)) - found.offsets[:-1][found.queries]
    rows[places], matrix[places] = found.rows, scores
    return sorted_ranking(rows, matrix)


def _keys(ranking: Ranking, num_papers: int) -> np.ndarray:
    queries, ranks = np.nonzero(ranking.rows >= 0)
    return queries * num_papers + ranking.rows[queries, ranks]
