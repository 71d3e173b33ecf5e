"""How many values are better: sorted where few are, counted by parts of their range elsewhere."""

import numpy as np
import pytest

from mpbert.recommending import signals


@pytest.mark.parametrize("few", [0, 50, 10_000])  # by parts; by parts and sorted; sorted
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_better_values_are_counted_as_one_by_one(few, kind, monkeypatch):
    monkeypatch.setattr(signals, "_FEW", few)
    rng = np.random.default_rng(1)
    for ranked in (
        rng.standard_normal(3000),
        np.where(rng.random(3000) < 0.9, 0, rng.exponential(size=3000)),  # most are the lowest
        np.repeat(rng.random(30), 100),
        np.zeros(3000),
    ):
        values = ranked.astype(kind)
        for asked in (values[rng.choice(3000, 100)], np.sort(values)[-100:]):
            expected = [int((values > one).sum()) for one in asked]
            assert signals._num_better(values, asked).tolist() == expected
