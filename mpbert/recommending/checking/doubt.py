"""Whether a citation is wrong: a logistic regression whose coefficients come with mpbert.

    P(another paper stands here by mistake | features) = σ(b + Σ_f w_f · x_f)

where one citation in twenty is wrong. :mod:`mpbert.recommending.checking.learning` learns w and b;
an answer needs numpy alone.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mpbert.recommending.checking.standing import COLUMNS, FEATURES

SHIPPED = Path(__file__).with_name("doubt.json")
WRONG = 0.05  # part of the citations that is wrong


@dataclass(frozen=True)
class Doubt:
    """Coefficients for papers of which as much is known.

    :param kind: of ``FEATURES``; ``weights`` (F,) of these.
    """

    kind: str
    weights: np.ndarray
    bias: float

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """Return the (...,) probabilities that papers are cited by mistake.

        :param features: (..., F) of :func:`mpbert.recommending.checking.standing.standing`.
        """
        return 1 / (1 + np.exp(-(features[..., columns_of(self.kind)] @ self.weights + self.bias)))

    def as_json(self) -> dict[str, object]:
        """Return what the file holds of it."""
        named = zip(FEATURES[self.kind], self.weights.tolist(), strict=True)
        return {"bias": round(self.bias, 4), **{name: round(w, 4) for name, w in named}}


def columns_of(kind: str) -> list[int]:
    """Return the columns of features that count for a kind."""
    return [COLUMNS.index(name) for name in FEATURES[kind]]


def read_doubts(path: Path = SHIPPED) -> dict[str, Doubt]:
    """Return the coefficients that come with mpbert, or those of another file, by kind."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return {
        kind: Doubt(kind, np.array([found[kind][name] for name in names]), found[kind]["bias"])
        for kind, names in FEATURES.items()
        if kind in found
    }


def write_doubts(path: Path, doubts: dict[str, Doubt]) -> None:
    """Write a file of coefficients."""
    content = {kind: doubt.as_json() for kind, doubt in doubts.items()}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
