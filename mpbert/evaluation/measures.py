"""Measures of one ranking per query, for all queries at once, and what chance would reach.

Symbols: Q queries, K depth of the rankings, k cutoff, G number of relevant papers of a query,
n number of candidates. Every measure is a number from 0 to 1 per query; a report gives means.
The definitions are those of trec_eval (``recall_k``, ``P_k``, ``map_cut_k``, ``recip_rank`` within
the first k, ``ndcg_cut_k``); relevance is 0 or 1. ``MRR`` without a cutoff looks at whole rankings.

``F1@k`` is a measure of a run, not of a query: Citeomatic (Bhagavatula et al., NAACL 2018)
and those after it take it of precision and recall that are averaged over queries before. It has no
value for one query, so tests and intervals, which resample queries, do not have it.
"""

from collections.abc import Callable, Sequence

import numpy as np

from mpbert.foundation.errors import ConfigError


def recall(hits: np.ndarray, num_gold: np.ndarray, k: int) -> np.ndarray:
    """Return (Q,) the part of the relevant papers that is among the first k: hits / G.

    :param hits: (Q, K) whether the paper at each rank is relevant.
    :param num_gold: (Q,) number of relevant papers, G.
    """
    return hits[:, :k].sum(axis=1) / num_gold


def precision(hits: np.ndarray, num_gold: np.ndarray, k: int) -> np.ndarray:
    """Return (Q,) the relevant part of the first k papers: hits / k, even if a list is shorter.

    :param hits: (Q, K) whether the paper at each rank is relevant.
    :param num_gold: (Q,) not needed; all measures are called alike.
    """
    return hits[:, :k].sum(axis=1) / k


def average_precision(hits: np.ndarray, num_gold: np.ndarray, k: int) -> np.ndarray:
    """Return (Q,) average precision within the first k; its mean over queries is MAP@k.

        AP@k = 1/G · Σ_{i <= k, relevant at i} (relevant papers among the first i) / i

    The divisor is G, not min(G, k): a query with more than k relevant papers cannot reach 1.

    :param hits: (Q, K) whether the paper at each rank is relevant.
    :param num_gold: (Q,) number of relevant papers, G.
    """
    hits = hits[:, :k]
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)  # (Q, k)
    return (precision * hits).sum(axis=1) / num_gold


def reciprocal_rank(hits: np.ndarray, num_gold: np.ndarray, k: int) -> np.ndarray:
    """Return (Q,) 1 / rank of the first relevant paper, 0 where none is among the first k.

    :param hits: (Q, K) whether the paper at each rank is relevant.
    :param num_gold: (Q,) not needed; all measures are called alike.
    """
    hits = hits[:, :k]
    return np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0.0)


def ndcg(hits: np.ndarray, num_gold: np.ndarray, k: int) -> np.ndarray:
    """Return (Q,) normalised discounted cumulative gain: Järvelin & Kekäläinen (TOIS 2002).

        nDCG@k = Σ_{i <= k, relevant at i} 1 / log2(i + 1)  /  Σ_{i <= min(G, k)} 1 / log2(i + 1)

    :param hits: (Q, K) whether the paper at each rank is relevant.
    :param num_gold: (Q,) number of relevant papers, G.
    """
    hits = hits[:, :k]
    discount = _discounts(min(k, max(hits.shape[1], num_gold.max(initial=1))))
    gain = hits @ discount[: hits.shape[1]]
    return gain / np.cumsum(discount)[np.minimum(num_gold, k) - 1]


def _discounts(k: int) -> np.ndarray:
    return 1 / np.log2(np.arange(2, k + 2))


FORMULAS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "MAP": average_precision,
    "MRR": reciprocal_rank,
    "P": precision,
    "Recall": recall,
    "nDCG": ndcg,
}
RUN_MEASURE = "F1"  # of means over queries
_MAX_DIGITS = 18  # of a cutoff: what 64 bits hold


def parse_measure(name: str) -> tuple[str, int | None]:
    """Split a name like ``Recall@10`` into formula and cutoff; ``MRR`` alone has no cutoff.

    :raises ConfigError: it is no measure.
    """
    formula, _, cutoff = name.partition("@")
    if name == "MRR":
        return name, None
    known = sorted([*FORMULAS, RUN_MEASURE])
    named = {each.lower(): each for each in known}
    is_number = cutoff.isdecimal() and len(cutoff) <= _MAX_DIGITS
    if formula not in known or not is_number or int(cutoff) < 1:
        kind, _, number = name.replace("_", "@").partition("@")  # as trec_eval spells them
        is_near = kind.lower() in named and number.isdecimal()
        hint = f"; did you mean {named[kind.lower()]}@{number}?" if is_near else ""
        raise ConfigError(
            f"unknown measure {name!r}; expected one of {', '.join(f'{f}@k' for f in known)}, with "
            f"k a number from 1, of at most {_MAX_DIGITS} digits, or MRR{hint}"
        )
    return formula, int(cutoff)


def depth_needed(names: Sequence[str], longest: int) -> int:
    """Return how many ranks these measures look at.

    :param longest: length of the longest ranking, at which a measure without a cutoff looks.
    :raises ConfigError: one is no measure.
    """
    return max(longest if k is None else k for _, k in map(parse_measure, names))


def measure(name: str, hits: np.ndarray, num_gold: np.ndarray, whole: bool = False) -> np.ndarray:
    """Return (Q,) one measure of every query.

    :param name: such as ``MAP@10``.
    :param hits: (Q, K) whether the paper at each rank is relevant.
    :param num_gold: (Q,) number of relevant papers, at least 1.
    :param whole: no ranking goes on beyond K, so that a deeper cutoff finds nothing more.
    :raises ConfigError: it is no measure of a query.
    :raises ValueError: the cutoff is deeper than the rankings.
    """
    formula, k = parse_query_measure(name)
    k = hits.shape[1] if k is None else k
    if k > hits.shape[1] and not whole:
        raise ValueError(f"{name} needs rankings of depth {k}; found {hits.shape[1]}")
    return FORMULAS[formula](hits, num_gold, k)


def mean_measure(name: str, hits: np.ndarray, num_gold: np.ndarray, whole: bool = False) -> float:
    """Return a measure of a run: the mean over queries; of ``F1@k`` that of the means,

        F1@k = 2 · P · R / (P + R),    P and R the means of P@k and Recall@k

    or 0 where nothing is found.

    :param hits: (Q, K) whether the paper at each rank is relevant; Q is at least 1.
    :param num_gold: (Q,) number of relevant papers, at least 1.
    :param whole: as in :func:`measure`.
    """
    formula, k = parse_measure(name)
    if formula != RUN_MEASURE:
        return float(measure(name, hits, num_gold, whole).mean())
    p, r = (mean_measure(f"{part}@{k}", hits, num_gold, whole) for part in ("P", "Recall"))
    return 2 * p * r / (p + r) if p + r else 0.0


def parse_query_measure(name: str) -> tuple[str, int | None]:
    """Split, as :func:`parse_measure`, the name of a measure that has a value for each query.

    :raises ConfigError: it is none.
    """
    formula, k = parse_measure(name)
    if formula == RUN_MEASURE:
        raise ConfigError(
            f"{name} is a measure of a run, from precision and recall averaged over queries; one "
            f"query has none, expected a measure of queries, such as P@{k} or Recall@{k}"
        )
    return formula, k


def recall_curve(hits: np.ndarray, num_gold: np.ndarray) -> np.ndarray:
    """Return (K,) mean Recall@k for k = 1..K.

    :param hits: (Q, K) whether the paper at each rank is relevant.
    :param num_gold: (Q,) number of relevant papers.
    """
    gain = (hits / num_gold[:, None]).mean(axis=0)  # (K,)
    return np.cumsum(gain)


def expected_at_random(
    name: str, num_gold: np.ndarray, num_candidates: np.ndarray, num_known: np.ndarray | None = None
) -> np.ndarray:
    """Return (Q,) the expectation of a measure over all orders of n candidates, all as likely.

        E Recall@k = k/n · R/G        E nDCG@k = R/n · Σ_{i <= k} 1/log2(i+1) / (ideal)
        E AP@k     = R/(n·G) · Σ_{i <= k} 1/i · (1 + (i-1)·(R-1)/(n-1))
        E RR@k     = Σ_{i <= k} 1/i · P(first relevant paper at i)
        E P@k      = R/max(k, n)

    with R relevant papers among the candidates. A query without candidates has 0.

    :param name: such as ``MAP@10``.
    :param num_gold: (Q,) number of relevant papers, G.
    :param num_candidates: (Q,) n, without the citing paper itself.
    :param num_known: (Q,) R; None: all relevant papers are candidates.
    """
    formula, k = parse_query_measure(name)
    known = num_gold if num_known is None else num_known
    kinds, each = np.unique(
        np.stack([num_gold, num_candidates, known]), axis=1, return_inverse=True
    )
    found = [_expected(formula, k, *map(int, kind)) if kind[1] else 0.0 for kind in kinds.T]
    return np.array(found, dtype=np.float64)[each.ravel()]


def _expected(formula: str, k: int | None, gold: int, n: int, known: int) -> float:
    """Return the expectation for a query of ``gold`` relevant papers, ``known`` of n candidates."""
    if formula == "P":
        return known / max(k, n)
    cutoff = n if k is None else min(k, n)
    ranks = np.arange(1, cutoff + 1)
    if formula == "Recall":
        return cutoff / n * known / gold
    if formula == "MAP":
        others = (ranks - 1) * (known - 1) / max(n - 1, 1)  # relevant papers before rank i
        return float(((1 + others) / ranks).sum() / n * known / gold)
    if formula == "nDCG":
        ideal = _discounts(min(gold, k)).sum()
        return float(known / n * _discounts(cutoff).sum() / ideal)
    none_so_far = np.cumprod(np.maximum(n - known - ranks + 1, 0) / (n - ranks + 1))
    before = np.concatenate([[1.0], none_so_far[:-1]])
    return float(((before - none_so_far) / ranks).sum())
