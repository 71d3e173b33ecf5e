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
_FEW, _PARTS = 4096, 4096  # values to sort; parts of the range of a feature


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
    is_all, asked = bool(allowed.all()), [found[name] for name in of_the_question(list(found))]
    ranked = asked if is_all else [values[allowed] for values in asked]
    scores = [values[rows] for values in asked]  # F times (M,)
    best = np.array([values.max() for values in ranked])[:, None]
    better = np.array([_num_better(*each) for each in zip(ranked, scores, strict=True)])
    parts = signals_of(np.array(scores, dtype=np.float64), best, better)  # 3 times (F, M)
    signals = np.stack(parts, axis=1).reshape(-1, len(rows))
    return np.vstack([signals, *(found[name][rows] for name in PRIORS)]).T


def _num_better(ranked: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return (M,) how many of all values are larger than each of M of them.

    Where few values are larger than the smallest of the M, these are sorted. Else values are dealt
    out to parts of their range: in a part that none of the M lies in, they are counted alone, and
    the others are sorted. To sort all takes several times as long.

    :param ranked: (N,) all values; ``asked`` (M,) some of these.
    """
    is_larger = ranked > asked.min()
    if np.count_nonzero(is_larger) <= _FEW:
        larger = np.sort(ranked.take(np.flatnonzero(is_larger)))
        return len(larger) - np.searchsorted(larger, asked, side="right")
    lowest = ranked.min()
    per_part = _PARTS / (ranked.max() - lowest)
    parts, asked_parts = (
        ((values - lowest) * per_part).astype(np.intp) for values in (ranked, asked)
    )
    counts, is_asked = np.bincount(parts, minlength=_PARTS + 1), np.zeros(_PARTS + 1, dtype=bool)
    is_asked[asked_parts] = True
    counts[is_asked] = 0
    beside = np.sort(ranked[is_asked[parts] & (ranked > lowest)])  # the lowest is often that of all
    above = len(beside) - np.searchsorted(beside, asked, side="right")
    return above + np.cumsum(counts[::-1])[::-1][asked_parts]


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
