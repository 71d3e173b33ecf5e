import dataclasses

import numpy as np

from mpbert.corpus.queries import Manuscripts, fixed_sample, sample_of


def _queries(number):
    none = np.zeros(number, dtype=np.int64)
    ids = [f"q{place}" for place in range(number)]
    none_repeats = np.zeros(number, dtype=bool)
    offsets = np.zeros(number + 1, dtype=np.int64)
    return Manuscripts(ids, none, offsets, none[:0], none, none_repeats)


def test_a_sample_has_no_query_twice_and_keeps_the_order():
    places = sample_of(_queries(50), 20, np.random.default_rng(1))
    assert len(places) == 20 and (np.diff(places) > 0).all() and places[-1] < 50


def test_every_query_is_as_likely_as_the_others():
    queries, rng = _queries(10), np.random.default_rng(2)
    counts = sum(np.bincount(sample_of(queries, 3, rng), minlength=10) for _ in range(2000))
    assert abs(counts - 600).max() < 5 * np.sqrt(2000 * 0.3 * 0.7)


def test_the_fixed_sample_is_always_the_same_and_of_few_queries_all():
    queries = _queries(50)
    assert (fixed_sample(queries, 20) == fixed_sample(queries, 20)).all()
    for size in (None, 50, 99):
        assert (fixed_sample(queries, size) == np.arange(50)).all()
    assert not len(fixed_sample(_queries(0), 20))


def test_repeats_are_never_in_a_sample():
    queries = dataclasses.replace(_queries(50), is_repeat=np.arange(50) % 2 == 1)
    assert (sample_of(queries, 20, np.random.default_rng(1)) % 2 == 0).all()
    assert sample_of(queries, 99, np.random.default_rng(1)).tolist() == list(range(0, 50, 2))
