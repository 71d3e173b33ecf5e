import itertools

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from mpbert.corpus.binary import BinaryContexts
from mpbert.corpus.cocitation import citation_counts, cocitation_counts, merge_by_paper
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.ragged import offsets_of
from mpbert.model import noise
from mpbert.model.config import NoiseConfig
from mpbert.model.noise import NegativeDistribution, Noise, negative_weights, positive_weights

CONTEXTS = [[0, 1], [0, 1, 2], [3], [2, 0], [0, 3], [0, 1]]  # cited rows, of 6 papers
OFFSETS = offsets_of(np.array([len(c) for c in CONTEXTS]))
ROWS = np.concatenate(CONTEXTS)
N = 6
# chi-square at p = 0.001 by degrees of freedom
LIMIT = {1: 10.8, 2: 13.8, 3: 16.3, 4: 18.5, 5: 20.5}


def chi_square(counts, probabilities):
    expected = counts.sum() * probabilities
    return ((counts - expected) ** 2 / expected).sum()


def test_equation_1_by_pencil():
    """16 common citations weigh 8 times one: 16^(3/4)."""
    assert positive_weights(np.array([1, 16, 81]), 0.75).tolist() == pytest.approx([1, 8, 27])


def test_equation_2_by_pencil():
    assert negative_weights(np.array([0, 1, 16]), 0.75).tolist() == pytest.approx([0, 1, 8])
    assert negative_weights(np.array([0, 1, 16]), 0.0).tolist() == [0, 1, 1]


def test_counts_by_pencil():
    assert citation_counts(ROWS, N).tolist() == [5, 3, 2, 2, 0, 0]


def test_cocitations_equal_the_loop_over_pairs():
    expected = np.zeros((N, N))
    for context in CONTEXTS:
        for a, b in itertools.permutations(context, 2):
            expected[a, b] += 1
    assert np.array_equal(cocitation_counts(OFFSETS, ROWS, N).toarray(), expected)


@pytest.mark.parametrize(("num_units", "num_papers"), [(400, 30), (3, 5), (0, 4)])
def test_cocitations_equal_the_product_of_incidence_matrices(num_units, num_papers):
    rng = np.random.default_rng(2)
    incidence = csr_matrix(rng.random((num_units, num_papers)) < 0.2, dtype=np.int64)
    rows = np.concatenate(  # in no order within a unit
        [rng.permutation(part) for part in np.split(incidence.indices, incidence.indptr[1:-1])]
    )
    expected = (incidence.T @ incidence).toarray()
    np.fill_diagonal(expected, 0)
    found = cocitation_counts(incidence.indptr.astype(np.int64), rows, num_papers)
    assert np.array_equal(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)  # no pair is stored twice
    assert found.has_sorted_indices


def test_per_citing_paper_each_pair_counts_once():
    citing = np.array([10, 10, 10, 12, 12, 13])  # papers of the six contexts
    offsets, rows = merge_by_paper(citing, OFFSETS, ROWS)
    assert offsets.tolist() == [0, 4, 7, 9]
    assert rows.tolist() == [0, 1, 2, 3, 0, 2, 3, 0, 1]
    counts = cocitation_counts(offsets, rows, N).toarray()
    assert counts[0].tolist() == [0, 2, 2, 2, 0, 0]
    assert counts[1, 3] == 1  # never in one context, once in one paper


def repeated(context, times):
    """The same gold citations for many examples."""
    return offsets_of(np.full(times, len(context))), np.tile(np.array(context, np.int64), times)


@pytest.mark.parametrize("power", [0.0, 0.5, 0.75, 1.0])
def test_negatives_follow_counts_to_the_power_without_the_gold(power):
    counts = np.array([50, 20, 10, 5, 0, 1])
    draws = 10_000
    found = NegativeDistribution(counts, power).sample(
        np.arange(draws), *repeated([1, 4], draws), num_negatives=2, seed=1, visit=0
    )
    assert not np.isin(found, [1, 4]).any()  # gold, and never cited
    weights = np.where(counts > 0, counts.astype(float) ** power, 0)
    weights[[1, 4]] = 0
    support = np.flatnonzero(weights)
    drawn = np.bincount(found.ravel(), minlength=6)[support]
    assert chi_square(drawn, weights[support] / weights.sum()) < LIMIT[len(support) - 1]


def test_negatives_are_fresh_per_visit_and_the_same_for_the_same_key_in_any_batch():
    noise = NegativeDistribution(np.arange(1, 200), 0.75)
    items = np.arange(30)
    gold = repeated([5], 30)
    first = noise.sample(items, *gold, 4, 1, 1)
    assert np.array_equal(first, noise.sample(items, *gold, 4, 1, 1))
    assert not np.array_equal(first, noise.sample(items, *gold, 4, 1, 2))
    assert not np.array_equal(first, noise.sample(items, *gold, 4, 2, 1))
    assert np.array_equal(first[7:9], noise.sample(items[7:9], *repeated([5], 2), 4, 1, 1))


def test_examples_of_different_gold_never_meet_their_own():
    rng = np.random.default_rng(1)
    sizes = rng.integers(0, 5, 500)
    gold = rng.integers(0, 12, sizes.sum())
    offsets = offsets_of(sizes)
    found = NegativeDistribution(np.ones(12), 0.75).sample(np.arange(500), offsets, gold, 4, 1, 0)
    for row, (a, b) in zip(found, itertools.pairwise(offsets), strict=True):
        assert not set(row) & set(gold[a:b])


def test_a_context_that_cites_all_papers_has_no_negative_and_says_so():
    noise = NegativeDistribution(np.array([3, 3, 3]), 0.75)
    with pytest.raises(CorpusError, match="cites nearly every cited paper"):
        noise.sample(np.array([0]), *repeated([0, 1, 2], 1), 4, 1, 0)


@pytest.mark.parametrize("counts", [[0, 0, 0], [0, 7, 0]])
def test_training_contexts_that_cite_less_than_two_papers_are_refused(counts):
    with pytest.raises(CorpusError, match="fewer than two papers"):
        NegativeDistribution(np.array(counts), 0.75)


HISTORY = BinaryContexts(
    *(np.zeros(45, dtype=np.int64), np.arange(45), offsets_of(np.array([2] * 45))),
    np.array([[0, 1]] * 24 + [[0, 2]] * 8 + [[0, 3]] * 3 + [[4, 0]] * 10).ravel(),
    np.zeros(45, dtype=bool),
)  # paper 0 was cited 24, 8, 3, 10 times with 1, 2, 3, 4
CONTEXT, FROM_HISTORY = "context", "history"


def positives(
    positives_from, context, num_positives, power, times=1, visit=0, target=0, manuscript=9
):
    config = NoiseConfig(num_positives, positive_power=power, positives_from=positives_from)
    drawn = Noise(HISTORY, 6, config)
    rows = np.full(times, target), np.full(times, manuscript), np.arange(times)
    return drawn.positives(*rows, *repeated(context, times), 1, visit)


@pytest.mark.parametrize("power", [0.0, 0.5, 0.75, 1.0])
@pytest.mark.parametrize(
    ("positives_from", "support", "frequency"),
    [
        (CONTEXT, [1, 2, 5], [24, 8, 1]),  # 5 was never seen with 0: as if once
        (FROM_HISTORY, [1, 2, 3, 4], [24, 8, 3, 10]),
    ],
)
def test_first_positive_follows_frequency_to_the_power(positives_from, support, frequency, power):
    found = positives(positives_from, [0, 1, 2, 5], 1, power, times=10_000)
    weights = np.array(frequency, dtype=float) ** power
    drawn = np.bincount(found.ravel(), minlength=6)
    assert drawn.sum() == drawn[support].sum()
    assert chi_square(drawn[support], weights / weights.sum()) < LIMIT[len(support) - 1]


def test_two_positives_are_distinct_and_follow_draws_one_after_another():
    found = np.sort(positives(CONTEXT, [0, 1, 2, 5], 2, 1.0, times=10_000), axis=1)
    p = {1: 24 / 33, 2: 8 / 33, 5: 1 / 33}
    pairs = [(1, 2), (1, 5), (2, 5)]
    expected = [p[a] * p[b] / (1 - p[a]) + p[b] * p[a] / (1 - p[b]) for a, b in pairs]
    drawn = np.array([(found == pair).all(axis=1).sum() for pair in pairs])
    assert drawn.sum() == 10_000
    assert chi_square(drawn, np.array(expected)) < LIMIT[2]


def test_a_context_with_few_others_gives_all_and_fills_with_minus_1():
    assert positives(CONTEXT, [0], 3, 0.75).tolist() == [[-1, -1, -1]]
    assert sorted(positives(CONTEXT, [2, 0], 3, 0.75)[0]) == [-1, -1, 2]
    assert sorted(positives(CONTEXT, [0, 1, 2, 5], 3, 0.75)[0]) == [1, 2, 5]
    assert positives(CONTEXT, [0, 1], 0, 0.75).shape == (1, 0)


def test_history_of_a_paper_never_cited_is_empty():
    found = positives(FROM_HISTORY, [5], 3, 0.75, target=5)
    assert found.tolist() == [[-1, -1, -1]]


@pytest.mark.parametrize("positives_from", [CONTEXT, FROM_HISTORY])
def test_positives_are_fresh_per_visit_and_never_the_target(positives_from):
    first, again, other = (
        positives(positives_from, [0, 1, 2, 3, 4], 2, 0.75, times=50, visit=visit)
        for visit in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert (first != 0).all()


def test_history_has_all_but_the_manuscript_itself(monkeypatch):
    for most in (1 << 21, 1):
        monkeypatch.setattr(noise, "_MAX_CANDIDATES", most)
        found = positives(FROM_HISTORY, [0], 4, 0.75, times=3, manuscript=4)
        assert [sorted(row) for row in found.tolist()] == [[-1, 1, 2, 3]] * 3
    kept = positives(FROM_HISTORY, [0], 4, 0.75, times=50)
    found = positives(FROM_HISTORY, [0], 4, 0.75, times=50, manuscript=4)
    assert [[row for row in rows if row != 4] for rows in kept.tolist()] == found[:, :3].tolist()


def test_history_is_drawn_the_same_in_parts_of_any_size(monkeypatch):
    whole = positives(FROM_HISTORY, [0], 2, 0.75, times=50)
    monkeypatch.setattr(noise, "_MAX_CANDIDATES", 10)
    assert np.array_equal(whole, positives(FROM_HISTORY, [0], 2, 0.75, times=50))
