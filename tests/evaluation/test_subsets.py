import math

import numpy as np

from mpbert.corpus.cocitation import cocitation_counts
from mpbert.evaluation.subsets import mean_pair_frequency, subsets_by_frequency, subsets_by_num_gold


def test_subsets_by_the_number_of_cited_papers_come_from_one_list_of_queries():
    one, some, several = subsets_by_num_gold(np.array([1, 3, 2, 1]))
    assert one.mask.tolist() == [True, False, False, True]
    assert (len(one), len(some), len(several)) == (2, 4, 2)


def test_the_frequency_of_a_query_is_the_mean_over_its_pairs_by_pencil():
    # training: {0, 1}, {0, 1, 2}, {3}: pair 01 twice, 02 and 12 once
    counts = cocitation_counts(np.array([0, 2, 5, 6]), np.array([0, 1, 0, 1, 2, 3]), 5)
    offsets = np.array([0, 2, 5, 7, 8])  # queries {0, 1}, {2, 1, 0}, {0, 3}, {4}
    found = mean_pair_frequency(offsets, np.array([0, 1, 2, 1, 0, 0, 3, 4]), counts)
    assert np.array_equal(found, [2, 4 / 3, 0, np.nan], equal_nan=True)


def test_the_frequency_equals_a_slow_double_loop():
    rng = np.random.default_rng(1)
    groups = [rng.choice(12, rng.integers(1, 6), replace=False) for _ in range(80)]
    train, queries = groups[:50], groups[50:]
    counts = cocitation_counts(*_ragged(train), 12)
    found = mean_pair_frequency(*_ragged(queries), counts)
    for query, frequency in zip(queries, found, strict=True):
        pairs = [(a, b) for a in query for b in query if a < b]
        times = [sum(a in group and b in group for group in train) for a, b in pairs]
        assert np.allclose(frequency, np.mean(times) if times else np.nan, equal_nan=True)


def _ragged(groups):
    return np.cumsum([0, *map(len, groups)]), np.concatenate(groups)


def test_the_unseen_do_not_move_the_median_between_low_and_high():
    frequency = np.array([0, 0, 0, 0, 1, 2, 2, 7, np.nan])
    (unseen, low, high), median = subsets_by_frequency(frequency)
    assert median == 2
    assert unseen.mask.tolist() == [True] * 4 + [False] * 5
    assert low.mask.tolist() == [False] * 4 + [True] * 3 + [False] * 2
    assert high.mask.tolist() == [False] * 7 + [True, False]


def test_without_any_pair_seen_before_low_and_high_are_empty():
    (unseen, low, high), median = subsets_by_frequency(np.array([0, np.nan]))
    assert (len(unseen), len(low), len(high)) == (1, 0, 0)
    assert math.isnan(median)
