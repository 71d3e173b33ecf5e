"""Tests of the keys that papers are cited by."""

import random

import numpy as np
import pytest

from mpbert.recommending import citation_keys
from mpbert.recommending.citation_keys import made_unique, unique_keys
from mpbert.recommending.columns import TextColumn

KEYS = "ab", "Ab", "abc", "b1", "b2", "ab-2", "ab-3", "AB-2", "1b", "x:y", "ba", "ab-2-2"


@pytest.mark.parametrize("at_once", [1, 50, 1 << 14])
def test_keys_of_parts_are_those_of_all_at_once(at_once, monkeypatch):
    monkeypatch.setattr(citation_keys, "_AT_ONCE", at_once)
    draw = random.Random(at_once)
    keys = draw.choices(KEYS, k=200)
    is_own = np.array([draw.random() < 0.3 for _ in keys])
    order = np.argsort(~is_own, kind="stable").tolist()
    expected = dict(zip(order, unique_keys(keys[row] for row in order), strict=True))
    found = made_unique(TextColumn.of(keys), is_own).tolist()
    assert found == [expected[row] for row in range(len(keys))]
    assert len({key.casefold() for key in found}) == len(keys)
    assert made_unique(TextColumn.of([]), np.zeros(0, dtype=bool)).tolist() == []
