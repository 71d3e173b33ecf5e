import dataclasses
import math

import numpy as np
import pytest

from mpbert.evaluation.claims import Claim, ClaimRows, measure_claims
from mpbert.evaluation.subsets import SUBSETS, all_subsets, halves_by_frequency
from mpbert.evaluation.tables import Resampling

NUM_QUERIES, PER_PAPER = 400, 4
GOLD = np.tile([1, 2], NUM_QUERIES // 2)
FREQUENCY = np.where(GOLD > 1, np.tile([np.nan, 0, np.nan, 5], NUM_QUERIES // 4), np.nan)
RESAMPLING = Resampling(np.arange(NUM_QUERIES) // PER_PAPER, 400, 999)
ABOVE = Claim("above", "P", "", "Good is above bad.", "good", ("bad",), "Recall@10", "P>=1")


def _hits(rate, seed=0):
    """Return (Q, 10), the relevant papers of a query found at a rate of its own or of all."""
    found = np.random.default_rng(seed).random(NUM_QUERIES) < rate
    hits = np.zeros((NUM_QUERIES, 10), dtype=bool)
    hits[found, 0] = True
    return hits


def _measured(claims, hits, num_samples=999, **kinds):
    rows = ClaimRows(hits, **{key: frozenset(names) for key, names in kinds.items()})
    resampling = dataclasses.replace(RESAMPLING, num_samples=num_samples)
    subsets = all_subsets(GOLD, FREQUENCY)
    return measure_claims(claims, rows, subsets, GOLD, resampling, np.random.default_rng(1))


ROWS = {"good": [_hits(0.8)], "bad": [_hits(0.3, 1)], "worse": [_hits(0.1, 2)]}


def test_a_claim_is_confirmed_its_opposite_refuted_and_no_difference_open():
    opposite = dataclasses.replace(ABOVE, better="bad", than=("good",))
    level = dataclasses.replace(ABOVE, better="bad", than=("twin",))
    hits = {**ROWS, "twin": [_hits(0.3, 1)]}
    found = _measured([ABOVE, opposite, level], hits)
    assert [each.verdict for each in found] == ["confirmed", "refuted", "open"]
    assert [each.reason for each in found] == ["", "", ""]
    recall = {name: (seeds[0][:, 0] / GOLD).mean() for name, seeds in hits.items()}
    assert found[0].difference == pytest.approx(recall["good"] - recall["bad"])
    assert found[0].low < found[0].difference < found[0].high
    assert found[2].difference == 0 and found[2].p == 1


def test_p_values_are_corrected_for_the_claims_that_were_tested():
    untested = dataclasses.replace(ABOVE, better="nobody")
    (alone,) = _measured([ABOVE, untested], ROWS)
    assert alone.p == pytest.approx(1 / 10_000)
    first, second = _measured([ABOVE, dataclasses.replace(ABOVE, subset="P=1"), untested], ROWS)
    assert first.p == second.p == pytest.approx(2 / 10_000)


def test_a_p_value_does_not_change_with_the_seeds_of_other_rows():
    rows = {"good": [_hits(0.34)], "bad": [_hits(0.3, 1)], "worse": [_hits(0.1, 2)]}
    other = dataclasses.replace(ABOVE, better="bad", than=("worse",))
    found = [
        _measured([ABOVE, other], {**rows, "worse": seeds})[0]
        for seeds in (rows["worse"], [_hits(0.1, 2), _hits(0.1, 3), _hits(0.1, 4)])
    ]
    assert found[0].p == found[1].p < 1


def test_a_row_below_the_best_of_several_has_a_p_value_for_so_many_comparisons():
    rows = {"good": [_hits(0.3, 5)], **{f"row{i}": [_hits(0.3, 6 + i)] for i in range(4)}}
    rows["high"] = [_hits(0.37, 20)]
    alone, several = (
        _measured([dataclasses.replace(ABOVE, than=than)], rows)[0]
        for than in (("high",), ("row0", "row1", "high", "row2", "row3"))
    )
    assert alone.difference == several.difference < 0 and several.than == "high"
    assert several.p == pytest.approx(5 * alone.p) and alone.p < 0.05 < several.p
    assert (alone.verdict, several.verdict) == ("refuted", "open")
    above = dataclasses.replace(ABOVE, better="high", than=("row0", "row1"))
    assert _measured([above], rows)[0].p == _measured([_against_the_best(above, rows)], rows)[0].p


def _against_the_best(claim, rows):
    best = max(claim.than, key=lambda name: (rows[name][0][:, 0] / GOLD).mean())
    return dataclasses.replace(claim, than=(best,))


def test_the_strongest_lexical_row_is_another_one_than_that_of_the_claim():
    rows, lexical = {"good": [_hits(0.8)], "bad": [_hits(0.3, 1)]}, {"good", "bad"}
    found = _measured([dataclasses.replace(ABOVE, than=("lexical",))], rows, lexical=lexical)[0]
    assert (found.than, found.verdict) == ("bad", "confirmed")


def test_the_best_of_several_rows_is_compared_and_that_of_the_subset():
    gold = GOLD > 1
    hits = {"good": [_hits(1.0)], "one": [_hits(~gold * 1.0)], "many": [_hits(gold * 1.0)]}
    several = dataclasses.replace(ABOVE, than=("one", "many"))
    lexical = dataclasses.replace(ABOVE, than=("lexical",), subset="P>=2")
    found = _measured([several, lexical], hits, lexical={"one", "many"})
    assert [each.than for each in found] == ["one", "many"]


def test_what_was_not_run_what_does_not_exist_and_what_has_no_queries_is_left_out():
    claims = [
        dataclasses.replace(ABOVE, better="planned"),
        dataclasses.replace(ABOVE, than=("bad", "unknown_row")),
        dataclasses.replace(ABOVE, than=("lexical",)),
        dataclasses.replace(ABOVE, subset="high"),
    ]
    assert _measured(claims, ROWS) == []
    assert [each.claim for each in _measured([*claims, ABOVE], ROWS)] == [ABOVE]


def test_a_trained_row_of_one_or_two_seeds_is_open_and_still_measured():
    alone = _measured([ABOVE, ABOVE], ROWS, trained={"good"})
    assert (alone[0].verdict, alone[0].reason) == ("open", "one seed")
    assert alone[0].low > 0 and math.isnan(alone[0].p)
    seeds = [_hits(0.8), _hits(0.8, 4), _hits(0.8, 5)]
    (two,) = _measured([ABOVE], {**ROWS, "good": seeds[:2]}, trained={"good"})
    assert (two.verdict, two.reason) == ("open", "two seeds")
    (three,) = _measured([ABOVE], {**ROWS, "good": seeds}, trained={"good"})
    assert (three.verdict, three.reason) == ("confirmed", "")


def test_seeds_that_differ_widen_the_interval_and_their_mean_is_the_value():
    seeds = [_hits(rate, 5) for rate in (0.5, 0.8, 0.95)]
    several = _measured([ABOVE], {**ROWS, "good": seeds})[0]
    each = [_measured([ABOVE], {**ROWS, "good": [one]})[0] for one in seeds]
    assert several.difference == pytest.approx(np.mean([one.difference for one in each]))
    assert several.high - several.low > 1.5 * max(one.high - one.low for one in each)


def test_a_larger_gain_where_co_citations_are_rare_is_found_and_an_equal_one_is_not():
    rare, other = (subset.mask for subset in halves_by_frequency(FREQUENCY))
    assert rare.sum() == other.sum() == NUM_QUERIES // 4
    claim = dataclasses.replace(ABOVE, subset="", more_in="rare", less_in="other")
    more = _measured([claim], {**ROWS, "good": [_hits(0.4 + 0.6 * rare)]})[0]
    equal = _measured([claim], {**ROWS, "good": [_hits(np.ones(NUM_QUERIES))]})[0]
    less = _measured([claim], {**ROWS, "good": [_hits(0.4 + 0.6 * other)]})[0]
    assert [each.verdict for each in (more, equal, less)] == ["confirmed", "open", "refuted"]


def test_equal_gains_are_seldom_taken_for_different_ones():
    claim = dataclasses.replace(ABOVE, subset="", more_in="rare", less_in="other")
    claims = [dataclasses.replace(claim, better=f"good{i}") for i in range(40)]
    hits = {f"good{i}": [_hits(0.7, 100 + i)] for i in range(40)} | {"bad": ROWS["bad"]}
    single = [_measured([each], hits, num_samples=199)[0].p for each in claims]
    assert 0 <= np.mean(np.array(single) < 0.05) <= 0.15


def test_every_subset_is_in_the_list_and_the_halves_hold_all_with_a_pair():
    subsets = all_subsets(GOLD, FREQUENCY)
    assert tuple(subset.name for subset in subsets) == SUBSETS
    mostly_unseen = np.array([0.0, 0, 0, 1, 7, np.nan])
    rare, other = halves_by_frequency(mostly_unseen)
    assert rare.mask.tolist() == [True, True, True, False, False, False]
    assert other.mask.tolist() == [False, False, False, True, True, False]
    assert not any(map(len, halves_by_frequency(np.full(3, np.nan))))
