"""The learnt fusion of an index, as a file: a weight for each feature of a paper.

The score of a paper is a sum of features, ours:

    score(d) = Σ_f w_f · f(q, d)

``weights.json`` holds the weights for places, of features as they are, and how many contexts they
were learnt from; ``weights.whole.json`` those for whole papers. :mod:`mpbert.recommending.features`
computes the features, at a question and for learning alike; :mod:`mpbert.recommending.learning`
learns the weights.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mpbert.foundation.errors import IndexFormatError

PLACES, WHOLES = "", ".whole"  # what is ranked for, in the names of files
_FILE = "weights{}.json"
COSINE, MATCHES, ABSTRACT, CITING, ALL_WORDS, VOTES, CITATIONS, AGE, COMPANIONS = FEATURES = (
    *("cosine", "exact_matches", "bm25_abstract", "bm25_citing", "bm25_all", "votes"),
    *("citations", "age", "companions"),
)


class LearntWeights(NamedTuple):
    """Weights of features.

    :param weights: name of a feature to its weight; a feature without one does not count.
    :param queries: validation contexts, or whole papers, they were learnt from; ``accepted``
        those of which one paper was taken as accepted, from which the weight of companions was
        learnt. In the file both have the names of contexts.
    """

    weights: dict[str, float]
    queries: int
    accepted: int = 0

    def scores(self, features: dict[str, np.ndarray]) -> np.ndarray:
        """Return the (N,) scores of papers; the digits of one depend on no other paper.

        :param features: name to (N,) values, of each feature that has a weight.
        """
        scores = np.zeros(len(next(iter(features.values()))))
        for name, weight in self.weights.items():
            scores += weight * features[name]
        return scores

    def falls_with(self, name: str) -> bool:
        """Return whether scores fall where a feature grows."""
        return self.weights.get(name, 0.0) < 0

    def write(self, folder: Path, of: str) -> None:
        """Write the file into a folder that exists.

        :param of: ``PLACES`` or ``WHOLES``.
        """
        content = {
            **{"weights": self.weights, "contexts": self.queries},
            "contexts_with_an_accepted_paper": self.accepted,
        }
        (folder / _FILE.format(of)).write_text(
            json.dumps(content, indent=1) + "\n", encoding="utf-8"
        )


def read_fusion(folder: Path, known: Sequence[str], of: str) -> LearntWeights | None:
    """Return the weights in a folder; None: nothing was learnt.

    :param known: features that the index has.
    :param of: ``PLACES`` or ``WHOLES``.
    :raises IndexFormatError: the file is damaged, or weighs a feature that the index lacks.
    """
    path = folder / _FILE.format(of)
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        weights = {str(name): float(weight) for name, weight in found["weights"].items()}
        numbers = int(found["contexts"]), int(found["contexts_with_an_accepted_paper"])
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise IndexFormatError(
            f"{path}: found no weights ({reason}); expected a number for each feature, build the "
            f"index again with mpbert build-index"
        ) from error
    if wrong := [n for n, w in weights.items() if n not in known or not math.isfinite(w)]:
        raise IndexFormatError(
            f"{path}: found {wrong[0]!r} of weight {weights[wrong[0]]:g}; expected finite weights "
            f"of {', '.join(known)}, build the index again with mpbert build-index"
        )
    return LearntWeights(weights, *numbers)
