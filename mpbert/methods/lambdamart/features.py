"""What the trees read of a query and a candidate: rankings, other candidates, and metadata.

What the candidates tell of one another: :mod:`mpbert.methods.lambdamart.related`.
"""

from collections.abc import Sequence

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.ragged import offsets_of
from mpbert.methods.lambdamart.related import NAMES as RELATIONS
from mpbert.methods.lambdamart.related import KnownCitations, shares_of_odds
from mpbert.methods.lambdamart.signals import OF_A_RANKING, signals_of
from mpbert.methods.paper_parts import read_parts
from mpbert.methods.rankings import Ranking, Union
from mpbert.methods.training_citations import citations_and_age, training_citations

PRIORS = ("citations", "age")
METADATA = {"authors": ["authors_in_common", "cited_by_its_authors"], "venue": ["same_venue"]}


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


def relation_features(store: CorpusStore, queries: Queries, first: Ranking) -> list[np.ndarray]:
    """Return the (M,) features of :data:`RELATIONS` of all papers of a ranking, query after query.

    :param first: candidates; its scores are logarithms of odds.
    """
    training = store.contexts("train")
    known = KnownCitations(
        *(training.cited_offsets, training.cited_rows, training.citing_rows, training.years),
        store.num_papers,
    )
    found, shares = candidates_of(first), shares_of_odds(first.scores)[first.rows >= 0]
    columns = np.zeros((len(RELATIONS), len(found.rows)))
    for query, year in enumerate(queries.years.tolist()):
        own = slice(found.offsets[query], found.offsets[query + 1])
        columns[:, own] = known.among(found.rows[own], shares[own], year)
    return list(columns)


def metadata_features(
    store: CorpusStore, of: str, citing_rows: np.ndarray, papers: np.ndarray
) -> list[np.ndarray]:
    """Return the (P,) features of each name in :data:`METADATA`.

    :param of: ``authors`` or ``venue``.
    :param citing_rows: (P,) rows of the manuscripts.
    :param papers: (P,) rows of the candidates.
    """
    if of == "venue":
        return [_same_venue(store, citing_rows, papers)]
    rows, place = np.unique(citing_rows, return_inverse=True)
    written = read_parts(store, "authors").matrix()  # (N, A)
    together = (written[rows] @ written.T).tocsr()  # (U, N): authors in common
    known = together.tocoo()
    is_known = store.years[known.col] <= store.years[rows][known.row]
    theirs = type(together)(
        (np.ones(is_known.sum()), (known.row[is_known], known.col[is_known])), together.shape
    )  # (U, N), 1 for a paper of one of the authors, of the manuscript's year or earlier
    cited = (theirs @ training_citations(store, np.float64)).tocsr()  # (U, N)
    return [matrix[place, papers] for matrix in (together, cited)]


def _same_venue(store: CorpusStore, citing_rows: np.ndarray, papers: np.ndarray) -> np.ndarray:
    """Return (P,) 1 where both papers are of one venue; a paper without one shares none."""
    parts = read_parts(store, "venue")
    has = np.diff(parts.offsets) > 0
    venue = np.full(store.num_papers, -1)
    venue[has] = parts.ids
    return ((venue[citing_rows] == venue[papers]) & has[papers]).astype(float)
