"""The best of all papers by scores, some of which may be off a little."""

from collections.abc import Callable, Sequence

import numpy as np

from mpbert.foundation.ragged import distinct
from mpbert.methods.lexical.best_papers import BestPapers
from mpbert.methods.rankings import Ranking, fuse_reciprocal
from mpbert.recommending.near import Near, settled
from mpbert.retrieval.ranking import at_most_kth, top_k

# of an encoder that was trained elsewhere, beside words: chosen on validation contexts of the RFCs
# and of the ACL, with an encoder of the other corpus and with MiniLM
_FOREIGN = 0.5
_ROUNDING = 1e-6  # of a sum of two shares of 1 in float32, and more
_FEW, _SHARE = 1000, 16  # papers looked up, or one in so many; of more, all cosines take less time


def beside(
    words: np.ndarray, encoder: Callable[[], np.ndarray], nears: Sequence[Near], allowed: np.ndarray
) -> Callable[[], np.ndarray]:
    """Return what computes (N,) scores by words and by an encoder that was trained elsewhere.

    :param words: (N,) scores by words; ``encoder`` computes those of the encoder, at ``nears``.
    :param allowed: (N,) whether a paper may be ranked.
    """
    first = settled(encoder, nears, allowed, 1)  # the best is exact
    best = [scores[allowed].max(initial=0.0) or 1.0 for scores in (words, first)]
    return lambda: words / best[0] + _FOREIGN * encoder() / best[1]


def nearest(near: Near, allowed: np.ndarray, depth: int) -> Ranking | None:
    """Return the ranking by cosines; None: a paper that no store proposed may be among the first.

    :param allowed: (N,) whether a paper may be ranked.
    """
    is_there = allowed[near.rows]
    rows, scores = near.rows[is_there], near.cosines[is_there]
    found = best_of(scores, np.ones(len(rows), dtype=bool), depth)
    if found.rows.shape[1] < depth or found.scores[0, -1] <= near.bound:
        return None
    return Ranking(rows[found.rows], found.scores)


def nearest_beside(
    words: BestPapers,
    asked: tuple[np.ndarray, np.ndarray],
    near: Near,
    allowed: np.ndarray,
    depth: int,
) -> Ranking | None:
    """Return the ranking by the scores of :func:`beside`, of which few are worked out.

    None: too many papers may be among the first. As in :func:`settled`, a paper that was not
    proposed is looked up where its words and the bound of its cosine bring it there.

    :param words: of the papers; ``asked`` columns and counts of the question's words.
    """
    by_words, slack = words.near(*asked)
    by_words = np.where(allowed, by_words, -np.inf)
    proposed = near.rows[allowed[near.rows]]
    if len(proposed) < depth or by_words.max() <= 2 * slack:
        return None
    best = near.cosines[allowed[near.rows]].max()
    if best <= near.bound:
        return None
    best = max(best, np.float32(0)) or 1.0
    first = np.flatnonzero(by_words >= by_words.max() - 2 * slack)
    best_word = float(words.exact(*asked, first).max())
    slack, share = slack / best_word + _ROUNDING, _FOREIGN / float(best)

    def sums(rows: np.ndarray) -> np.ndarray:
        return by_words[rows] / best_word + share * near.of(rows)

    rows = np.concatenate([proposed, within(by_words, depth, 0.0)])
    least = np.partition(sums(distinct(rows)), -depth)[-depth] - 2 * slack
    others = np.flatnonzero(by_words >= (least - share * near.bound) * best_word)
    if len(others) > max(_FEW, len(allowed) // _SHARE):
        return None
    rows = distinct(np.concatenate([rows, others]))
    rows = rows[sums(rows) >= least]
    total = words.exact(*asked, rows) / best_word + _FOREIGN * near.of(rows) / best
    found = best_of(total, np.ones(len(rows), dtype=bool), depth)
    return Ranking(rows[found.rows], found.scores)


def mean_of(scores: Sequence[np.ndarray]) -> np.ndarray:
    """Return the (N,) mean of scores of one question or more; of one, they themselves."""
    return scores[0] if len(scores) == 1 else np.mean(scores, axis=0)


def within(scores: np.ndarray, depth: int, slack: float) -> np.ndarray:
    """Return, ascending, rows whose scores are less than the ``depth``-th by no more, and others.

    :param scores: (N,); -inf of what may not be ranked.
    """
    depth = min(depth, len(scores))
    last = at_most_kth(scores, depth)
    return np.flatnonzero((scores >= last - slack) & (scores > -np.inf))


def beside_these(
    values: np.ndarray, first: np.ndarray, allowed: np.ndarray, slack: float
) -> np.ndarray:
    """Return allowed rows whose value may be above or below one of the first, or may be the best.

    :param values: (N,), off by ``slack`` at most; those of the rows ``first`` are exact.
    """
    # in cells of 2 slacks, they lie in the cell of one of the first, or two further at most
    cells = ((values - values.min()) / (2 * slack)).astype(np.intp)
    is_near = np.zeros(cells.max() + 5, dtype=bool)
    is_near[cells[first] + np.arange(5)[:, None]] = True
    best = values[allowed].max(initial=-np.inf) - 2 * slack
    rows = np.flatnonzero(allowed & (is_near[2:][cells] | (values >= best)))
    asked, here = np.sort(values[first].astype(np.float64)), values[rows].astype(np.float64)
    place = np.searchsorted(asked, here - slack)  # of the first that is not below
    is_beside = np.append(asked, np.inf)[place] <= here + slack
    return rows[is_beside | (here >= best)]


def best_of(scores: np.ndarray, allowed: np.ndarray, depth: int) -> Ranking:
    """Return the best allowed papers of one question, ties by row."""
    num_allowed = np.count_nonzero(allowed)
    if not num_allowed:
        return Ranking(np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0)))
    scores = np.where(allowed, scores, -np.inf).astype(np.float64, copy=False)
    return Ranking(*top_k(scores[None], min(depth, num_allowed), np.array([-1])))


def fused(rankings: Sequence[Ranking], num_papers: int) -> Ranking:
    """Return the only ranking of one question, or several fused by reciprocal ranks."""
    return rankings[0] if len(rankings) == 1 else fuse_reciprocal(rankings, num_papers)
