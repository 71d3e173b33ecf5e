"""How far confidence can be relied upon, on questions whose answers are known."""

from dataclasses import dataclass

import numpy as np

from mpbert.evaluation.reliability import Reliability, auroc, reliability
from mpbert.recommending.confidence.coefficients import Confidence
from mpbert.recommending.confidence.learning import (
    FOREIGN,
    KINDS,
    WHOLE,
    WITHOUT_ALL,
    WITHOUT_CITED,
    KnownAnswers,
)


@dataclass(frozen=True)
class MeasuredConfidence:
    """How far the confidence of an index can be relied upon.

    :param first: of the first papers.
    :param holds: by what the library holds: (R,) P(the library holds what belongs there).
    :param threshold: a smaller P(the library holds ...) is said not to fit.
    :param among_first: AUROC of all first ten papers, not of the first alone.
    """

    first: Reliability
    holds: dict[str, np.ndarray]
    threshold: float
    among_first: float

    @property
    def bound(self) -> float:
        """What the AUROC can hardly exceed where the papers cited at the place are taken away.

        Where the first paper is not a cited one, it stays the first, and its signs nearly stay what
        they are: such pairs are told apart by chance.
        """
        return self.first.right + (1 - self.first.right) / 2

    def of_library(self, kind: str) -> float:
        """How well places whose paper the library holds are told from those of a kind."""
        held, lacking = self.holds[WHOLE], self.holds[kind]
        labels = np.repeat([True, False], [len(held), len(lacking)])
        return auroc(np.concatenate([held, lacking]), labels)

    def fits(self, kind: str) -> float:
        """Return the part of the places of a kind that are said to fit."""
        return float((self.holds[kind] >= self.threshold).mean())


def measured(confidence: Confidence, answers: KnownAnswers) -> MeasuredConfidence:
    """Return how far confidence can be relied upon, on answers that it did not learn from."""
    found = np.array([confidence.of_library(signs) for signs in answers.of_answer])
    kinds = np.array(answers.kinds)
    holds = {kind: found[kinds == kind] for kind in KINDS if (kinds == kind).any()}
    each = zip(answers.signs, holds[WHOLE].tolist(), strict=True)
    found = [confidence.of_papers(signs, held) for signs, held in each]
    among = auroc(np.concatenate(found), np.concatenate(answers.is_cited))
    first = np.array([probabilities[0] for probabilities in found])
    is_right = np.array([cited[0] for cited in answers.is_cited])
    return MeasuredConfidence(reliability(first, is_right), holds, confidence.threshold, among)


HEAD = (
    *("questions", "right", "AUROC", "ECE", "AUROC of ten", "surest half wrong"),
    *("without cited", "bound", "without all", "foreign", "fits", "foreign fits"),
)


def cells_of(found: MeasuredConfidence) -> list[str]:
    """Return the cells of a row of a table, of the columns ``HEAD``.

    ``without cited``, ``without all`` and ``foreign`` are AUROC, of ``found.of_library``.
    """
    first, has_foreign = found.first, FOREIGN in found.holds
    values = [
        *(first.right, first.auroc, first.error, found.among_first, first.risk_at(0.5)),
        *(found.of_library(WITHOUT_CITED), found.bound, found.of_library(WITHOUT_ALL)),
        *(found.of_library(FOREIGN) if has_foreign else None, found.fits(WHOLE)),
        found.fits(FOREIGN) if has_foreign else None,
    ]
    shown = ["" if value is None else f"{value:.3f}" for value in values]
    return [f"{len(found.holds[WHOLE]):,}", *shown]
