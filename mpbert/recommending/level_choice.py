"""Whether the levels of an encoder stay in an index: only where validation confirms them.

Levels cost each question the time of a transformer. So validation contexts are ranked twice, with
the levels' part of each vector and without, each time by weights that were learnt on other folds.
The levels stay if their gain is above so many standard errors as that of trees has to be.
"""

import numpy as np

from mpbert.corpus.queries import Queries
from mpbert.evaluation.measures import average_precision
from mpbert.methods.lambdamart.trees import folds_by_paper
from mpbert.recommending.examples import Examples
from mpbert.recommending.learnt import COMPANIONS
from mpbert.recommending.tree_learning import ERRORS, FOLDS, held_out_scores, mean_and_error

_CUTOFF = 10


def levels_help(queries: Queries, whole: Examples, bag: Examples) -> tuple[bool, str]:
    """Return whether the levels of an encoder stay, and what they bring.

    :param queries: what was asked; ``whole`` with the levels, ``bag`` without.
    """
    folds = folds_by_paper(queries.citing_rows, np.ones(len(queries), dtype=bool), FOLDS)
    after, before = (_precisions(queries, found, folds) for found in (whole, bag))
    gain, error = mean_and_error(after - before, queries.citing_rows)
    said = (
        f"MAP@10 of held-out queries {100 * after.mean():.2f} with the encoder's levels, "
        f"{100 * before.mean():.2f} without, standard error {100 * error:.2f}"
    )
    helps = gain > ERRORS * error
    return helps, said if helps else f"no levels: the gain may be chance, {said}"


def _precisions(queries: Queries, examples: Examples, folds: np.ndarray) -> np.ndarray:
    names = [name for name in examples.features[0] if name != COMPANIONS]
    hits = np.zeros((len(queries), _CUTOFF), dtype=bool)
    for number, scores in enumerate(held_out_scores(examples, names, folds)):
        first = np.argsort(-scores, kind="stable")[:_CUTOFF]
        hits[number, : len(first)] = examples.gold[number][first] > 0
    num_gold = np.array([len(queries.cited(number)) for number in range(len(queries))])
    return average_precision(hits, num_gold, _CUTOFF)
