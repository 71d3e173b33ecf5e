"""A batch that several tests of the model read."""

import numpy as np
import pytest


@pytest.fixture
def papers():
    """7 papers of 1 to 6 sentences of 1 to 9 tokens."""
    rng = np.random.default_rng(1)
    per_paper = np.array([3, 1, 6, 2, 3, 1, 5])
    lengths = rng.integers(1, 10, per_paper.sum())
    return rng.integers(4, 50, lengths.sum()), lengths, per_paper
