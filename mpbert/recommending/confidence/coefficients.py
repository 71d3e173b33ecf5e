"""How sure an answer is: logistic regressions of a few signs, as files of plain numbers.

    P(this paper is cited here | its signs x) = σ(b + Σ_j w_j · x_j)
    P(the library holds what belongs here | signs x' of the answer) = σ(b' + Σ_j w'_j · x'_j)

w and b of the first paper are others than those of the papers behind it. They are learnt from
places whose paper the library holds. Where it probably does not, below a threshold t, P of the
paper is multiplied by P(the library holds it) / t.

``confidence.json`` of an index holds what it learnt for places, ``confidence.whole.json`` for whole
papers. Other indexes take the files of the same names that come with mpbert; those were learnt from
several corpora, see :mod:`mpbert.recommending.confidence.learning`.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from mpbert.foundation.errors import IndexFormatError
from mpbert.recommending.confidence.signs import NAMES, NAMES_OF_ANSWER

SHIPPED = Path(__file__).parent
_FILE = "confidence{}.json"
PARTS = {"first": NAMES, "others": NAMES, "library": NAMES_OF_ANSWER}


@dataclass(frozen=True)
class Logistic:
    """A logistic regression.

    :param weights: name of a sign to its weight; ``bias`` is b.
    """

    weights: dict[str, float]
    bias: float

    def probabilities(self, signs: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Return (K,) probabilities of (K, S) signs, of these names."""
        weights = np.array([self.weights.get(name, 0.0) for name in names])
        return 1 / (1 + np.exp(-np.clip(self.bias + signs @ weights, -30, 30)))


@dataclass(frozen=True)
class Confidence:
    """What tells how sure an answer is.

    :param first: of P(this paper is cited here), of the first paper; ``others`` of those behind it.
    :param library: of P(the library holds what belongs here).
    :param threshold: an answer of a smaller P(the library holds ...) does not fit.
    :param queries: from which it was learnt.
    """

    first: Logistic
    others: Logistic
    library: Logistic
    threshold: float
    queries: int

    def of_papers(self, signs: np.ndarray, holds: float) -> np.ndarray:
        """Return (K,) P(this paper is cited here), by (K, 13) signs.

        :param holds: P(the library holds what belongs here); below the threshold, it lowers P.
        """
        parts = (self.first, signs[:1]), (self.others, signs[1:])
        found = np.concatenate([part.probabilities(each, NAMES) for part, each in parts])
        return found * min(holds / self.threshold, 1.0)

    def of_library(self, signs: np.ndarray) -> float:
        """Return P(the library holds what belongs here), by (17,) signs of an answer."""
        return float(self.library.probabilities(signs[None], NAMES_OF_ANSWER)[0])

    def write(self, folder: Path, of: str) -> None:
        """Write the file into a folder that exists.

        :param of: ``PLACES`` or ``WHOLES`` of :mod:`mpbert.recommending.learnt`.
        """
        text = json.dumps(asdict(self), indent=1) + "\n"
        (folder / _FILE.format(of)).write_text(text, encoding="utf-8")


def read_confidence(folder: Path, of: str) -> Confidence | None:
    """Return what a folder holds; None: nothing.

    :param of: ``PLACES`` or ``WHOLES`` of :mod:`mpbert.recommending.learnt`.
    :raises IndexFormatError: the file is damaged.
    """
    path = folder / _FILE.format(of)
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        parts = [
            Logistic(_weights(found[name]["weights"], known), float(found[name]["bias"]))
            for name, known in PARTS.items()
        ]
        return Confidence(*parts, float(found["threshold"]), int(found["queries"]))
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise IndexFormatError(
            f"{path}: found no coefficients ({reason}); expected a finite number for each sign, "
            f"build the index again with mpbert build-index"
        ) from error


def _weights(found: dict[str, float], known: Sequence[str]) -> dict[str, float]:
    weights = {str(name): float(weight) for name, weight in found.items()}
    for name, weight in weights.items():
        if name not in known or not math.isfinite(weight):
            raise ValueError(f"{name!r} of weight {weight:g}")
    return weights
