"""Whether a sentence needs a citation: a logistic regression whose coefficients come with mpbert.

    P(cites | sentence) = σ(b + Σ_j w_j),  j over the columns of the sentence

:mod:`mpbert.recommending.unmarked.learning` learns w and b; an answer needs numpy alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mpbert.recommending.unmarked.features import DIMENSIONS, columns_of

SHIPPED = Path(__file__).with_name("worthiness.safetensors")


@dataclass(frozen=True)
class Worthiness:
    """Coefficients.

    :param weights: (65,536,) float16 of the columns of features; ``bias`` is of all sentences.
    """

    weights: np.ndarray
    bias: float

    def probabilities(self, sentences: Sequence[str]) -> np.ndarray:
        """Return of each sentence of a paper's body whether it cites, (S,) from 0 to 1.

        :param sentences: in order, without citation markers.
        """
        columns, of = columns_of(sentences)
        scores = np.bincount(of, self.weights[columns], len(sentences))
        return 1 / (1 + np.exp(-(scores + self.bias)))

    def write(self, path: Path) -> None:
        """Write a file of safetensors."""
        from safetensors.numpy import save_file

        bias = np.array([self.bias], dtype=np.float32)
        save_file({"weights": self.weights.astype(np.float16), "bias": bias}, path)


def read_worthiness(path: Path = SHIPPED) -> Worthiness:
    """Return the coefficients that come with mpbert, or those of another file."""
    from safetensors.numpy import load_file

    found = load_file(path)
    assert found["weights"].shape == (DIMENSIONS,)
    return Worthiness(found["weights"], float(found["bias"][0]))
