"""How far confidence can be relied upon, on questions whose answers are known."""

from dataclasses import dataclass

import numpy as np

from mpbert.recommending.confidence.coefficients import Confidence
from mpbert.recommending.confidence.learning import (
    FOREIGN,
    KINDS,
    WHOLE,
    WITHOUT_ALL,
    WITHOUT_CITED,
    KnownAnswers,
)

COVERAGES = (0.1, 0.25, 0.5, 0.75, 1.0)
BINS = 15


@dataclass(frozen=True)
class Reliability:
    """How far the confidence of an index can be relied upon.

    :param first: (Q,) P(the first paper is cited), ``is_right`` (Q,) whether it is.
    :param holds: by what the library holds: (R,) P(the library holds what belongs there).
    :param threshold: a smaller P(the library holds ...) is said not to fit.
    :param among_first: AUROC of all first ten papers, not of the first alone.
    """

    first: np.ndarray
    is_right: np.ndarray
    holds: dict[str, np.ndarray]
    threshold: float
    among_first: float = float("nan")

    @property
    def auroc(self) -> float:
        """How well right first papers are told from wrong ones."""
        return auroc(self.first, self.is_right)

    @property
    def calibration_error(self) -> float:
        """By how much P(the first paper is cited) is off."""
        return calibration_error(self.first, self.is_right)

    @property
    def bound(self) -> float:
        """What the AUROC can hardly exceed where the papers cited at the place are taken away.

        Where the first paper is not a cited one, it stays the first, and its signs nearly stay what
        they are: such pairs are told apart by chance.
        """
        right = float(self.is_right.mean())
        return right + (1 - right) / 2

    def of_library(self, kind: str) -> float:
        """How well places whose paper the library holds are told from those of a kind."""
        held, lacking = self.holds[WHOLE], self.holds[kind]
        labels = np.repeat([True, False], [len(held), len(lacking)])
        return auroc(np.concatenate([held, lacking]), labels)

    def fits(self, kind: str) -> float:
        """Return the part of the places of a kind that are said to fit."""
        return float((self.holds[kind] >= self.threshold).mean())

    def risks(self) -> list[float]:
        """Return the part that is wrong of the surest first papers, at each of ``COVERAGES``."""
        order = np.argsort(-self.first, kind="stable")
        number = [max(round(part * len(order)), 1) for part in COVERAGES]
        return [float(1 - self.is_right[order[:count]].mean()) for count in number]


def measured(confidence: Confidence, answers: KnownAnswers) -> Reliability:
    """Return how far confidence can be relied upon, on answers that it did not learn from."""
    found = np.array([confidence.of_library(signs) for signs in answers.of_answer])
    kinds = np.array(answers.kinds)
    holds = {kind: found[kinds == kind] for kind in KINDS if (kinds == kind).any()}
    each = zip(answers.signs, holds[WHOLE].tolist(), strict=True)
    found = [confidence.of_papers(signs, held) for signs, held in each]
    among = auroc(np.concatenate(found), np.concatenate(answers.is_cited))
    first = np.array([probabilities[0] for probabilities in found])
    is_right = np.array([cited[0] for cited in answers.is_cited])
    return Reliability(first, is_right, holds, confidence.threshold, among)


def auroc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the area under the ROC curve; NaN where all (M,) labels are equal."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(labels, scores)) if len(set(labels.tolist())) > 1 else float("nan")


def calibration_error(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Return the expected calibration error over 15 bins of equal width.

    Guo, Pleiss, Sun & Weinberger (ICML 2017), Eq. 3.
    """
    which = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    gaps = np.bincount(which, weights=probabilities - labels, minlength=BINS)
    return float(np.abs(gaps).sum() / len(labels))


HEAD = (
    *("questions", "right", "AUROC", "ECE", "AUROC of ten", "surest half wrong"),
    *("without cited", "bound", "without all", "foreign", "fits", "foreign fits"),
)


def cells_of(found: Reliability) -> list[str]:
    """Return the cells of a row of a table, of the columns ``HEAD``.

    ``without cited``, ``without all`` and ``foreign`` are AUROC of :meth:`Reliability.of_library`.
    """
    has_foreign = FOREIGN in found.holds
    values = [
        *(found.is_right.mean(), found.auroc, found.calibration_error, found.among_first),
        *(found.risks()[COVERAGES.index(0.5)], found.of_library(WITHOUT_CITED), found.bound),
        found.of_library(WITHOUT_ALL),
        *(found.of_library(FOREIGN) if has_foreign else None, found.fits(WHOLE)),
        found.fits(FOREIGN) if has_foreign else None,
    ]
    shown = ["" if value is None else f"{value:.3f}" for value in values]
    return [f"{len(found.first):,}", *shown]
