"""What the trees of an index read of the first papers of its fusion.

Learning and answering share this code. The signals of a paper are, of each feature that depends on
the question, the score, its share of the best score, and 1 / rank among all that may be
recommended; of the fusion the score, its share of the best paper's odds, and 1 / rank among the
first papers; citations and age; and what the first papers tell of one another
(:mod:`mpbert.methods.lambdamart.related`). Accepted papers play no part in them.
"""

from collections.abc import Sequence

import numpy as np

from mpbert.methods.lambdamart.related import NAMES as RELATED
from mpbert.methods.lambdamart.related import KnownCitations, shares_of_odds
from mpbert.methods.lambdamart.signals import OF_A_RANKING, signals_of
from mpbert.recommending.learnt import AGE, CITATIONS, COMPANIONS

DEPTH = 100  # first papers, which the trees rank
PRIORS = (CITATIONS, AGE)


def of_the_question(names: Sequence[str]) -> list[str]:
    """Return the names of features that depend on the text of a question."""
    return [name for name in names if name not in (*PRIORS, COMPANIONS)]


def signal_names(names: Sequence[str]) -> list[str]:
    """Return the (S,) names of signals.

    :param names: of the features of an index.
    """
    ranked = [f"{name} {part}" for name in of_the_question(names) for part in OF_A_RANKING]
    return [*ranked, *PRIORS, *(f"fusion {part}" for part in OF_A_RANKING), *RELATED]


def own_signals(found: dict[str, np.ndarray], allowed: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return (M, ...) the signals that do not depend on the fusion, in the order of their names.

    :param found: name to (N,) values of all papers.
    :param allowed: (N,) whether a paper may be recommended; ``rows`` (M,) of some of these.
    """
    columns = []
    for name in of_the_question(list(found)):
        ranked = np.sort(found[name][allowed])
        values = found[name][rows].astype(np.float64)
        better = len(ranked) - np.searchsorted(ranked, found[name][rows], side="right")
        columns += signals_of(values, float(ranked[-1]), better)
    return np.stack([*columns, *(found[name][rows] for name in PRIORS)], axis=1)


def fused_signals(
    rows: np.ndarray, scores: np.ndarray, known: KnownCitations, year: int
) -> np.ndarray:
    """Return (K, ...) the other signals, of the first papers.

    :param rows: (K,) papers; ``scores`` (K,) logarithms of odds by the fusion.
    :param year: of the question; what was cited later is not known.
    """
    ranks = np.argsort(np.argsort(-scores, kind="stable"), kind="stable")
    odds = np.exp(scores - scores.max(initial=-np.inf))
    related = known.among(rows, shares_of_odds(scores), year)
    return np.stack([scores, odds, 1 / (ranks + 1), *related], axis=1)
