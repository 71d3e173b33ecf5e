"""Learns from labelled sentences which need a citation; strength of the penalty by validation."""

from collections.abc import Sequence

import numpy as np

from mpbert.evaluation.reliability import auroc
from mpbert.foundation.progress import progress
from mpbert.recommending.unmarked.features import DIMENSIONS, columns_of
from mpbert.recommending.unmarked.labels import LabelledPaper
from mpbert.recommending.unmarked.worthiness import Worthiness

_STRENGTHS = (0.01, 0.03, 0.1)  # C of scikit-learn: the inverse of the penalty


def learn(
    training: Sequence[LabelledPaper], validation: Sequence[Sequence[LabelledPaper]]
) -> Worthiness:
    """Return the coefficients of the strength whose AUROC on validation is best.

    :param validation: of each corpus; the mean over corpora counts.
    """
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    columns, offsets, labels = _rows(training)
    shape = (len(labels), DIMENSIONS)
    matrix = csr_matrix((np.ones(len(columns), np.float32), columns, offsets), shape)
    found: list[tuple[float, Worthiness]] = []
    for strength in _STRENGTHS:
        fitted = LogisticRegression(C=strength, max_iter=300).fit(matrix, labels)
        made = Worthiness(fitted.coef_[0].astype(np.float16), float(fitted.intercept_[0]))
        each = [scored(made, papers) for papers in validation]
        tells = [auroc(scores, known) for scores, known in each]
        found.append((float(np.mean(tells)), made))
    return max(found, key=lambda one: one[0])[1]


def scored(
    worthiness: Worthiness, papers: Sequence[LabelledPaper]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (S,) probabilities and labels of all labelled sentences of papers."""
    scores = [worthiness.probabilities(paper.texts)[paper.labelled] for paper in papers]
    return np.concatenate(scores), np.concatenate([paper.known for paper in papers])


def _rows(papers: Sequence[LabelledPaper]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns of all labelled sentences, (S + 1,) where each begins, (S,) labels."""
    found, lengths = [], []
    for paper in progress(papers, "read sentences", "paper"):
        columns, of = columns_of(paper.texts)
        has_label = np.isin(of, paper.labelled)
        found.append(columns[has_label])
        lengths.append(np.bincount(of, minlength=len(paper.texts))[paper.labelled])
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return np.concatenate(found), offsets, np.concatenate([paper.known for paper in papers])
