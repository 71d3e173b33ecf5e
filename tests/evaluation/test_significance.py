import itertools

import numpy as np
import pytest
from scipy import stats

from mpbert.evaluation.significance import (
    best_other_rows,
    bootstrap_means,
    cluster_sums,
    clusters_of,
    holm,
    percentile_interval,
    randomization_p_values,
    t_test_p_values,
    with_drawn_seeds,
)


def _data(num_queries=40, num_rows=3, num_clusters=8, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.random((num_rows, 2, num_queries)) + np.arange(num_rows)[:, None, None] * 0.1
    masks = np.stack([np.ones(num_queries, dtype=bool), rng.random(num_queries) < 0.5])
    clusters = rng.permutation(np.arange(num_queries) % num_clusters)
    return values, masks, clusters


def test_cluster_sums_keep_the_means_over_queries():
    values, masks, clusters = _data()
    data = cluster_sums(values, masks, clusters)
    assert data.sums.shape == (8, 3, 2)
    for j, mask in enumerate(masks):
        assert np.allclose(data.means[:, j], values[:, j, mask].mean(axis=1))
        for c in range(8):
            chosen = mask & (clusters == c)
            assert data.sizes[c, j] == chosen.sum()
            assert np.allclose(data.sums[c, :, j], values[:, j, chosen].sum(axis=1))


def test_the_mean_of_an_empty_subset_is_nan():
    data = cluster_sums(np.ones((2, 1, 3)), np.zeros((1, 3), dtype=bool), np.array([0, 1, 1]))
    assert np.isnan(data.means).all()
    drawn = bootstrap_means(data, 10, np.random.default_rng(1))
    assert np.isnan(percentile_interval(drawn)).all()


def test_clusters_are_numbered_from_0():
    assert clusters_of(["b", "a", "b"]).tolist() == [1, 0, 1]


def test_every_row_is_compared_with_the_best_other_one():
    means = np.array([[0.1, 0.3], [0.2, 0.3], [0.0, 0.1]])
    assert best_other_rows(means).tolist() == [[1, 1], [0, 0], [1, 0]]
    assert best_other_rows(means[:1]).tolist() == [[-1, -1]]


def test_seeds_are_drawn_with_replacement_and_a_single_one_always():
    samples = np.broadcast_to(np.array([1.0, 2, 4, 8])[None, :, None], (4000, 4, 2))
    means = with_drawn_seeds(samples, (1, 3), np.random.default_rng(1))
    assert (means[:, 0] == 1).all()
    assert (means[:, 1, 0] == means[:, 1, 1]).all()  # one draw for all columns
    drawn = np.unique(means[:, 1, 0].round(9))
    possible = {sum(chosen) / 3 for chosen in itertools.product((2, 4, 8), repeat=3)}
    assert np.allclose(drawn, sorted({round(mean, 9) for mean in possible}))
    assert means[:, 1, 0].mean() == pytest.approx(14 / 3, abs=0.1)


def test_bootstrap_means_of_one_cluster_are_its_mean():
    values, masks, _ = _data()
    data = cluster_sums(values, masks, np.zeros(40, dtype=int))
    drawn = bootstrap_means(data, 5, np.random.default_rng(1))
    assert np.allclose(drawn, data.means)


def test_bootstrap_intervals_over_single_queries_are_near_those_of_the_normal_distribution():
    values, masks, _ = _data(num_queries=400)
    data = cluster_sums(values, masks, np.arange(400))
    low, high = percentile_interval(bootstrap_means(data, 2000, np.random.default_rng(1)))
    half_width = 1.96 * values[:, 0].std(axis=1) / 20
    assert np.allclose((high - low)[:, 0] / 2, half_width, rtol=0.1)
    assert ((low < data.means) & (data.means < high)).all()


def test_intervals_are_wider_when_queries_of_a_cluster_are_alike():
    values = np.repeat(np.random.default_rng(1).random((1, 1, 20)), 10, axis=2)  # 10 equal queries
    masks = np.ones((1, 200), dtype=bool)
    widths = []
    for clusters in (np.arange(200), np.repeat(np.arange(20), 10)):
        data = cluster_sums(values, masks, clusters)
        low, high = percentile_interval(bootstrap_means(data, 1000, np.random.default_rng(1)))
        widths.append((high - low).item())
    assert widths[1] > 2 * widths[0]


def test_the_same_seed_gives_the_same_resamples_whatever_the_block():
    values, masks, clusters = _data()
    data = cluster_sums(values, masks, clusters)
    first, second = (bootstrap_means(data, 450, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first, second)


def test_randomization_p_values_are_near_those_of_all_exchanges():
    values, masks, clusters = _data()
    data = cluster_sums(values, masks, clusters)
    others = best_other_rows(data.means)
    found = randomization_p_values(data, others, 20000, np.random.default_rng(1))
    signs = np.array(list(itertools.product([-1, 1], repeat=8)))  # all 256
    for r, j in itertools.product(range(3), range(2)):
        difference = data.sums[:, r, j] - data.sums[:, others[r, j], j]
        extreme = np.abs(signs @ difference) >= abs(difference.sum()) - 1e-9
        assert found[r, j] == pytest.approx(extreme.mean(), abs=0.015)


def test_a_row_equal_to_the_best_other_one_has_p_1_and_a_lone_row_has_none():
    values, masks, clusters = _data(num_rows=2)
    values[1] = values[0]
    data = cluster_sums(values, masks, clusters)
    others = best_other_rows(data.means)
    assert (randomization_p_values(data, others, 99, np.random.default_rng(1)) == 1).all()
    assert (t_test_p_values(values, masks, others) == 1).all()
    lone = cluster_sums(values[:1], masks, clusters)
    others = best_other_rows(lone.means)
    assert np.isnan(randomization_p_values(lone, others, 99, np.random.default_rng(1))).all()
    assert np.isnan(t_test_p_values(values[:1], masks, others)).all()


def test_p_falls_as_the_difference_grows():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal(60) * 0.2
    p_values = []
    for gain in (0.0, 0.05, 0.1):
        values = np.stack([np.zeros(60), noise - noise.mean() + gain])[:, None]
        masks = np.ones((1, 60), dtype=bool)
        data = cluster_sums(values, masks, np.arange(60))
        others = np.array([[1], [0]])
        p_values.append(randomization_p_values(data, others, 999, np.random.default_rng(1))[1, 0])
    assert p_values[0] > p_values[1] > p_values[2]


def test_t_tests_equal_those_of_scipy():
    values, masks, _ = _data()
    others = np.array([[1, 2], [2, 0], [0, 1]])
    found = t_test_p_values(values, masks, others)
    for r, j in itertools.product(range(3), range(2)):
        a, b = values[r, j, masks[j]], values[others[r, j], j, masks[j]]
        assert found[r, j] == pytest.approx(stats.ttest_rel(a, b).pvalue)


def test_holm_by_pencil():
    p_values = np.array([[0.01, 0.04, np.nan], [0.03, 0.005, 0.9]])
    expected = [[0.04, 0.09, np.nan], [0.09, 0.025, 0.9]]  # 0.04 · 2 is raised to 0.03 · 3
    assert np.allclose(holm(p_values), expected, equal_nan=True)
    assert holm(np.array([0.6, 0.7])).tolist() == [1.0, 1.0]
