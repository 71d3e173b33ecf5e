"""Learns what tells a wrong citation from exchanged ones, and measures how well it is told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.evaluation.reliability import auroc, calibration_error
from mpbert.foundation.seeding import named_rng
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.checking.doubt import WRONG, Doubt, columns_of
from mpbert.recommending.checking.standing import ABSTRACTS, TEXTS, TITLES, VECTORS
from mpbert.recommending.checking.swapping import NEAR, UNIFORM, swaps_of, thin_index

POOLS = (None, 300, 60)  # papers of a library
_DRAWS = 20  # times that one citation in twenty is exchanged

Examples = dict[str, list[np.ndarray]]  # kind of index -> (C, 3, F) of each library


@dataclass(frozen=True)
class TellingApart:
    """How well wrong citations are told where one in twenty is exchanged, means of 20 draws.

    :param auroc: for any paper, and for a near one; so are the others.
    :param of_ten: part that is wrong of the 10 most doubtful; ``of_wrong`` of as many as are wrong.
    :param right: part that is wrong of those whose doubt is 0.5 or more; ``found`` the part of the
        wrong ones that is among them.
    :param error: expected calibration error, half exchanged for any paper, half for a near one.
    """

    citations: int
    auroc: tuple[float, float]
    of_ten: tuple[float, float]
    of_wrong: tuple[float, float]
    right: tuple[float, float]
    found: tuple[float, float]
    error: float


def examples_of(
    store: CorpusStore, index: AnsweringIndex, split: str, most: int, pools: Sequence = POOLS
) -> Examples:
    """Return exchanged citations in libraries of several sizes, rich and poor.

    :param index: of this corpus, with vectors.
    :param most: contexts, about.
    """
    rich = swaps_of(store, index, split, index.vectors, most, pools)
    titles, abstracts = (
        swaps_of(store, thin_index(store, has), split, index.vectors, most, pools)
        for has in (False, True)
    )
    return {TITLES: titles, ABSTRACTS: abstracts, TEXTS: rich, VECTORS: rich}


def learn(kind: str, corpora: Iterable[Examples]) -> Doubt:
    """Return the coefficients of a kind of index; each library of each corpus counts as much."""
    from sklearn.linear_model import LogisticRegression

    features, labels, weights = [], [], []
    columns = columns_of(kind)
    for library in (part[..., columns] for examples in corpora for part in examples[kind]):
        count = len(library)
        features.append(library.reshape(3 * count, -1))
        labels.append(np.tile([0, 1, 1], count))
        weights.append(np.tile([1 - WRONG, WRONG / 2, WRONG / 2], count) / count)
    matrix = np.concatenate(features)
    middle, spread = matrix.mean(axis=0), np.maximum(matrix.std(axis=0), 1e-9)
    fitted = LogisticRegression(max_iter=1000, C=1e4).fit(
        (matrix - middle) / spread, np.concatenate(labels), np.concatenate(weights)
    )
    coefficients = fitted.coef_[0] / spread
    return Doubt(kind, coefficients, float(fitted.intercept_[0] - coefficients @ middle))


def told(doubt: Doubt, citations: np.ndarray) -> TellingApart:
    """Return how well wrong citations are told.

    :param citations: (C, 3, F) of one library.
    """
    scores = doubt.probabilities(citations)
    drawn = [
        np.mean([_drawn(scores, other, draw) for draw in range(_DRAWS)], axis=0)
        for other in (UNIFORM, NEAR)
    ]
    told_by, ten, all_wrong, right, found = zip(*(row.tolist() for row in drawn), strict=True)
    weights = np.tile([1 - WRONG, WRONG / 2, WRONG / 2], len(scores))
    labels = np.tile([0, 1, 1], len(scores))
    error = calibration_error(scores.ravel(), labels, weights)
    return TellingApart(len(scores), told_by, ten, all_wrong, right, found, error)


def _drawn(scores: np.ndarray, other: int, draw: int) -> list[float]:
    """Return AUROC, precisions, and what of the doubtful is wrong and of the wrong is doubtful."""
    count = len(scores)
    chosen = named_rng(draw, "wrong citations").permutation(count)[: max(round(WRONG * count), 1)]
    is_wrong = np.zeros(count, dtype=bool)
    is_wrong[chosen] = True
    here = np.where(is_wrong, scores[:, other], scores[:, 0])
    order = np.argsort(-here, kind="stable")
    is_doubtful = here >= 0.5
    return [
        auroc(here, is_wrong),
        float(is_wrong[order[:10]].mean()),
        float(is_wrong[order[: len(chosen)]].mean()),
        float(is_wrong[is_doubtful].mean()) if is_doubtful.any() else 1.0,
        float(is_doubtful[is_wrong].mean()),
    ]
