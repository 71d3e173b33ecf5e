import itertools
import math

import ir_measures
import numpy as np
import pytest

from mpbert.evaluation.measures import (
    FORMULAS,
    depth_needed,
    expected_at_random,
    mean_measure,
    measure,
    parse_measure,
    recall_curve,
)
from mpbert.foundation.errors import ConfigError

# ranks 1 and 3 of four hold two of three relevant papers; nothing found; one of one at rank 2
HITS = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]], dtype=bool)
NUM_GOLD = np.array([3, 2, 1])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Recall@1", [1 / 3, 0, 0]),
        ("Recall@4", [2 / 3, 0, 1]),
        ("P@1", [1, 0, 0]),
        ("P@4", [2 / 4, 0, 1 / 4]),
        ("MAP@2", [1 / 3, 0, 1 / 2]),
        ("MAP@4", [(1 + 2 / 3) / 3, 0, 1 / 2]),
        ("MRR@1", [1, 0, 0]),
        ("MRR@4", [1, 0, 1 / 2]),
        ("MRR", [1, 0, 1 / 2]),
        ("nDCG@1", [1, 0, 0]),
        ("nDCG@2", [1 / (1 + 1 / math.log2(3)), 0, 1 / math.log2(3)]),
    ],
)
def test_a_measure_of_three_queries_by_pencil(name, expected):
    assert np.allclose(measure(name, HITS, NUM_GOLD), expected)


def test_f1_is_of_the_mean_precision_and_the_mean_recall_by_pencil():
    p, r = (2 / 4 + 0 + 1 / 4) / 3, (2 / 3 + 0 + 1) / 3
    assert mean_measure("F1@4", HITS, NUM_GOLD) == pytest.approx(2 * p * r / (p + r))
    of_queries = [2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3), 0, 2 * (1 / 4) / (1 / 4 + 1)]
    assert mean_measure("F1@4", HITS, NUM_GOLD) != pytest.approx(np.mean(of_queries))
    assert mean_measure("F1@4", HITS[1:2], NUM_GOLD[1:2]) == 0
    assert mean_measure("P@4", HITS, NUM_GOLD) == pytest.approx(p)


def test_f1_has_no_value_for_a_query_and_says_so():
    for ask in (
        lambda: measure("F1@4", HITS, NUM_GOLD),
        lambda: expected_at_random("F1@4", NUM_GOLD, np.full(len(NUM_GOLD), 9)),
    ):
        with pytest.raises(ConfigError, match=r"F1@4 is a measure of a run.*such as P@4 or Recall"):
            ask()


def test_a_measure_without_a_cutoff_needs_the_longest_ranking():
    assert depth_needed(["Recall@5", "F1@20"], longest=100) == 20
    assert depth_needed(["Recall@5", "MRR"], longest=100) == 100
    assert depth_needed(["Recall@500", "MRR"], longest=100) == 500


def test_average_precision_is_divided_by_all_relevant_papers_not_by_the_cutoff():
    hits = np.ones((1, 2), dtype=bool)
    assert measure("MAP@2", hits, np.array([4])).tolist() == [0.5]


def test_the_recall_curve_holds_the_mean_of_every_recall():
    curve = recall_curve(HITS, NUM_GOLD)
    expected = [measure(f"Recall@{k}", HITS, NUM_GOLD).mean() for k in (1, 2, 3, 4)]
    assert np.allclose(curve, expected)


@pytest.mark.parametrize("formula", sorted(FORMULAS))
def test_a_measure_does_not_fall_when_a_hit_moves_up(formula):
    rng = np.random.default_rng(1)
    hits = rng.random((200, 10)) < 0.3
    moved = hits.copy()
    moved[:, [4, 5]] = np.sort(hits[:, [4, 5]], axis=1)[:, ::-1]
    num_gold = hits.sum(axis=1) + 1
    before, after = (measure(f"{formula}@10", h, num_gold) for h in (hits, moved))
    assert (after >= before - 1e-12).all()
    if formula in ("MAP", "nDCG"):
        assert (after > before).any()


def test_measures_equal_those_of_ir_measures():
    rng = np.random.default_rng(2)
    qrels, run, hits = [], [], np.zeros((60, 30), dtype=bool)
    num_gold = rng.integers(1, 14, size=60)
    for q, size in enumerate(num_gold):
        gold = set(rng.choice(40, size, replace=False).tolist())
        ranking = rng.permutation(40)[:30]
        hits[q] = [paper in gold for paper in ranking.tolist()]
        qrels += [ir_measures.Qrel(str(q), str(paper), 1) for paper in gold]
        run += [
            ir_measures.ScoredDoc(str(q), str(paper), float(30 - rank))
            for rank, paper in enumerate(ranking)
        ]
    theirs = {
        "Recall@10": ir_measures.R @ 10,
        "P@10": ir_measures.P @ 10,
        "MRR": ir_measures.RR,
        "MAP@10": ir_measures.AP @ 10,
        "MRR@10": ir_measures.RR @ 10,
        "nDCG@10": ir_measures.nDCG @ 10,
    }
    for name, their in theirs.items():
        values = {m.query_id: m.value for m in ir_measures.iter_calc([their], qrels, run)}
        expected = [values[str(q)] for q in range(60)]
        assert np.allclose(measure(name, hits, num_gold), expected, atol=1e-6), name


@pytest.mark.parametrize("formula", sorted(FORMULAS))
@pytest.mark.parametrize(("gold", "known"), [(1, 1), (2, 2), (3, 3), (3, 1), (2, 0)])
@pytest.mark.parametrize("k", [1, 2, 4, 9])
def test_the_expectation_at_random_is_the_mean_over_all_orders(formula, gold, known, k):
    num_candidates = 5
    orders = itertools.combinations(range(num_candidates), known)  # ranks of the relevant papers
    hits = np.array([[rank in ranks for rank in range(num_candidates)] for ranks in orders])
    hits = np.pad(hits, ((0, 0), (0, 9 - num_candidates)))  # lists end before a cutoff of 9
    name = f"{formula}@{k}"
    expected = measure(name, hits, np.full(len(hits), gold)).mean()
    other = np.array([7, gold]), np.array([0, num_candidates]), np.array([0, known])
    assert np.allclose(expected_at_random(name, *other), [0, expected])  # 0 without candidates
    if known == gold:
        assert np.allclose(expected_at_random(name, *other[:2])[1], expected)


@pytest.mark.parametrize(
    "name",
    ["Recall", "Recall@0", "Recall@x", "recall@10", "P", "F1", "MRR@", "", "P@1" + "0" * 5000],
)
def test_an_unknown_measure_is_refused_with_all_choices(name):
    with pytest.raises(
        ConfigError, match="expected one of F1@k, MAP@k, MRR@k, P@k, Recall@k, nDCG"
    ):
        parse_measure(name)


def test_a_cutoff_beyond_the_rankings_is_an_error():
    with pytest.raises(ValueError, match="Recall@5 needs rankings of depth 5; found 4"):
        measure("Recall@5", HITS, NUM_GOLD)


@pytest.mark.parametrize("formula", sorted([*FORMULAS, "F1"]))
def test_a_cutoff_beyond_whole_rankings_counts_the_ranks_that_lack(formula):
    name, gold = f"{formula}@9", np.array([2, 1, 12])  # one has more relevant papers than ranks
    padded = np.pad(HITS, ((0, 0), (0, 5)))
    assert mean_measure(name, HITS, gold, whole=True) == mean_measure(name, padded, gold)
