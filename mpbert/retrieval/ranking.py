"""From scores to rankings, with one tie rule for every retriever.

Tie rule: larger score first; among equal scores the smaller row, that is the smaller paper id.
"""

import numpy as np

_GROUPS = 32  # scores of which the largest is looked at first


def top_k(scores: np.ndarray, k: int, excluded_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the k largest scores of each query, and these scores, best first.

    :param scores: (Q, N); overwritten at the excluded places.
    :param k: cutoff, at most the number of candidates, see :func:`num_ranked`.
    :param excluded_rows: (Q,) the one candidate that a query must not rank, or -1.
    :returns: (Q, K) int64 rows and (Q, K) scores.
    """
    num_queries, num_papers = scores.shape
    queries = np.flatnonzero(excluded_rows >= 0)
    scores[queries, excluded_rows[queries]] = -np.inf
    if 2 * k > num_papers // _GROUPS:
        return _top_of_few(scores, k)
    rows = np.empty((num_queries, k), dtype=np.int64)
    best = np.empty((num_queries, k), dtype=scores.dtype)
    for query, of_query in enumerate(scores):
        left = np.flatnonzero(of_query >= at_most_kth(of_query, k))
        places, best[query] = _top_of_few(of_query[None, left], k)
        rows[query] = left[places[0]]
    return rows, best


def at_most_kth(scores: np.ndarray, k: int) -> float:
    """Return a bound that the k largest scores reach, and few others.

    The k-th largest of the largest scores of groups: k groups hold a score that is no smaller. Of
    few scores it is the k-th largest itself.

    :param scores: (N,), at least k of them.
    """
    size = len(scores) // _GROUPS
    if 2 * k > size:
        return np.partition(scores, len(scores) - k)[len(scores) - k]
    largest = scores[: size * _GROUPS].reshape(_GROUPS, size).max(axis=0)
    return np.partition(largest, size - k)[size - k]


def _top_of_few(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    num_queries, num_papers = scores.shape
    kth = np.partition(scores, num_papers - k, axis=1)[:, num_papers - k, None]  # (Q, 1)
    above, equal = scores > kth, scores == kth
    missing = k - above.sum(axis=1, keepdims=True)
    taken = above | (equal & (np.cumsum(equal, axis=1) <= missing))
    rows = np.nonzero(taken)[1].reshape(num_queries, k)  # ascending in each query
    return sort_by_score(rows, scores[_each(scores), rows])


def sort_by_score(rows: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (Q, K) rows and scores in the order of the tie rule; give rows ascending."""
    order = _each(scores), np.argsort(-scores, axis=1, kind="stable")
    return rows[order], scores[order]


def _each(scores: np.ndarray) -> np.ndarray:
    """Return (Q, 1) numbers of queries; numpy's ``take_along_axis`` makes them more slowly."""
    return np.arange(len(scores))[:, None]


def num_ranked(k: int, num_papers: int, excluded_rows: np.ndarray) -> int:
    """Return how many papers a ranking can hold: ``k``, or all candidates where they are fewer."""
    return min(k, num_papers - int((excluded_rows >= 0).any()))
