"""What the first papers of each query tell of one another, of the training contexts of a corpus.

The equations are those of :mod:`mpbert.methods.lambdamart.related`.
"""

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.methods.lambdamart.features import candidates_of
from mpbert.methods.lambdamart.related import NAMES, KnownCitations, shares_of_odds
from mpbert.methods.rankings import Ranking

__all__ = ["NAMES", "relation_features"]


def relation_features(store: CorpusStore, queries: Queries, first: Ranking) -> list[np.ndarray]:
    """Return the (M,) features of :data:`NAMES` of all papers of a ranking, query after query.

    :param first: candidates; its scores are logarithms of odds.
    """
    training = store.contexts("train")
    known = KnownCitations(
        *(training.cited_offsets, training.cited_rows, training.citing_rows, training.years),
        store.num_papers,
    )
    found, shares = candidates_of(first), shares_of_odds(first.scores)[first.rows >= 0]
    columns = np.zeros((len(NAMES), len(found.rows)))
    for query, year in enumerate(queries.years.tolist()):
        own = slice(found.offsets[query], found.offsets[query + 1])
        columns[:, own] = known.among(found.rows[own], shares[own], year)
    return list(columns)
