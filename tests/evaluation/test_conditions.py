import math

import pytest

from mpbert.errors import ConfigError
from mpbert.evaluation.conditions import Comparison, compare, parse_condition

GOOD = {"title": "BM25", "run": "runs/trec/{corpus}/bm25"}


def test_a_condition_has_defaults_for_all_but_title_and_run():
    condition = parse_condition("bm25", GOOD, "bm25.yaml")
    assert (condition.name, condition.title, condition.note) == ("bm25", "BM25", "")
    assert condition.expected == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "bm25.yaml: found NoneType; expected keys title and run"),
        ({"title": "BM25"}, "bm25.yaml: found no run; expected a line 'run: ...'"),
        ({**GOOD, "seed": 1}, "unknown key 'seed'; expected one of expected, note, order, run, "),
        ({**GOOD, "order": "first"}, "order is 'first'; expected int"),
        ({**GOOD, "title": "x" * 41}, "the title has 41 characters; expected one line of at most"),
        ({**GOOD, "expected": {"rfc": 3}}, "bm25.yaml: expected, rfc: found 3; expected 'Recall"),
        (
            {**GOOD, "expected": {"rfc": {"MAP@10 P>=1": 0.5}}},
            "rfc, MAP@10 P>=1: found 0.5; expected [value, tolerance]",
        ),
    ],
)
def test_a_wrong_condition_is_refused(content, message):
    with pytest.raises(ConfigError) as error:
        parse_condition("bm25", content, "bm25.yaml")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [(0.31, "OK"), (0.29, "OK"), (0.3201, "DIFFERENT"), (0.315, "CLOSE"), (math.nan, "DIFFERENT")],
)
def test_a_score_is_ok_within_the_tolerance_and_close_within_twice(found, verdict):
    assert Comparison("bm25", "MAP@10 P>=1", 0.3, 0.01, found).verdict == verdict


def test_a_row_that_was_not_run_and_one_that_was_are_both_compared():
    content = {**GOOD, "expected": {"rfc": {"MAP@10 P>=1": [0.5, 0.1]}, "acl": {}}}
    conditions = [parse_condition(name, content, name) for name in ("a", "b")]
    first, second = compare(conditions, "rfc", {"a": {"MAP@10 P>=1": 0.5}})
    assert (first.verdict, second.verdict) == ("OK", "DIFFERENT")
    assert compare(conditions, "acl", {}) == []


def test_an_expected_score_that_no_table_has_is_an_error():
    content = {**GOOD, "expected": {"rfc": {"MAP@9 P>=1": [0.5, 0.1]}}}
    with pytest.raises(ConfigError, match="a: expects a score of 'MAP@9 P>=1'; expected one of M"):
        compare([parse_condition("a", content, "a")], "rfc", {"a": {"MAP@10 P>=1": 0.5}})
