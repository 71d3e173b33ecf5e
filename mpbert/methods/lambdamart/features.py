"""What the trees read of a query and a candidate."""

from collections.abc import Sequence

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.ragged import offsets_of
from mpbert.methods.lambdamart.signals import OF_A_RANKING, signals_of
from mpbert.methods.rankings import Ranking, Union
from mpbert.methods.training_citations import citations_and_age

PRIORS = ("citations", "age")


def candidates_of(first: Ranking) -> Union:
    """Return the papers of a ranking, query after query, best first."""
    has = first.rows >= 0
    return Union(offsets_of(has.sum(axis=1)), first.rows[has])


def features_of(
    store: CorpusStore, queries: Queries, rankings: Sequence[Ranking], fused: Ranking
) -> np.ndarray:
    """Return (M, F) features of all papers of the fused ranking, query after query.

    They are those of each ranking, those of the fused one, ln(1 + training citations) up to the
    query's year, and ln(1 + age in years).

    :param rankings: that were fused.
    :param fused: the candidates alone; its scores are logarithms of odds.
    """
    found = candidates_of(fused)
    columns = []
    for ranking in rankings:
        columns += features_in(found, ranking, store.num_papers)
    score, _, reciprocal_rank = features_in(found, fused, store.num_papers)
    best = fused.bounds()[0][found.queries]
    columns += [score, np.exp(score - best), reciprocal_rank]  # share: of the odds
    columns += citations_and_age(store, found.rows, queries.years[found.queries])
    return np.stack(columns, axis=1)


def feature_names(input_names: Sequence[str]) -> list[str]:
    """Return (F,) names of the features.

    :param input_names: of the rankings.
    """
    names = [f"{name} {feature}" for name in [*input_names, "fusion"] for feature in OF_A_RANKING]
    return [*names, *PRIORS]


def features_in(found: Union, ranking: Ranking, num_papers: int) -> list[np.ndarray]:
    """Return what a ranking says of M candidates, see :func:`signals_of`."""
    places = found.places_in(ranking, num_papers)  # (M,) rank from 0, or -1
    best = ranking.bounds()[0][found.queries]
    return signals_of(ranking.scores[found.queries, places], best, places)
