r"""How a paper stands among all others at a place: the features that a doubt is learnt from.

The others are the pool, papers that the place does not cite. So a feature means the same in a
library of 60 papers as in one of 60,000:

    place_s(d) = ln((better + half of the equal ones + 1) / (pool + 1)),   by the score s
    share_s(d) = s(d) / max s,    height(d) = (cos(d) - mean cos) / standard deviation of cos

``words`` is BM25 of the words at the place, over all that the index searches; ``around`` that of
ten sentences on either side; ``cos`` the cosine of vectors that were learnt from the library. It
counts, too, whether the sentence names an author of the paper.
"""

import numpy as np

from mpbert.recommending.answering import AROUND, NAMED, WORDS
from mpbert.recommending.learnt import COSINE

COLUMNS = (
    *("place by words", "share of words", "ln pool", "place around", "share around"),
    *("place by cosine", "height of cosine", "author named"),
)
# what is known of a paper: its title; an abstract; its text or who cites it; all this with vectors
TITLES, ABSTRACTS, TEXTS, VECTORS = ("titles", "abstracts", "texts", "vectors")
FEATURES = {  # the columns that count
    **dict.fromkeys((TITLES, ABSTRACTS), (*COLUMNS[:5], COLUMNS[7])),
    **{TEXTS: (*COLUMNS[:3], COLUMNS[7]), VECTORS: (*COLUMNS[:3], *COLUMNS[5:])},
}


def standing(evidence: dict[str, np.ndarray], pool: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the (M, F) features of papers at a place, by ``COLUMNS``.

    :param evidence: name to (N,) scores, see :meth:`AnsweringIndex.evidence`.
    :param pool: (N,) whether a paper may have been cited there, and is not.
    :param rows: (M,) papers, of the pool or not.
    """
    size, found = np.count_nonzero(pool), np.zeros((len(rows), len(COLUMNS)))
    found[:, 2] = np.log(max(size, 1))
    for column, name in ((0, WORDS), (3, AROUND)):
        best = float(evidence[name][pool].max(initial=0.0))
        found[:, column] = _places(evidence[name], pool, rows)
        found[:, column + 1] = evidence[name][rows] / max(best, 1e-9)
    found[:, 7] = evidence[NAMED][rows]
    if COSINE in evidence and size:
        cosine, others = evidence[COSINE], evidence[COSINE][pool]
        found[:, 5] = _places(cosine, pool, rows)
        found[:, 6] = (cosine[rows] - others.mean()) / max(float(others.std()), 1e-9)
    return found


def _places(scores: np.ndarray, pool: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the (M,) logarithms of the places of papers among the pool."""
    others, own = scores[pool], scores[rows]
    better = np.array([np.count_nonzero(others > score) for score in own])
    equal = np.array([np.count_nonzero(others == score) for score in own]) - pool[rows]
    return np.log((better + equal / 2 + 1) / (len(others) + 1))
