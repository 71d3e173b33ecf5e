import math

import pytest

from mpbert.experiments.expected import ScoreCheck, check_scores
from mpbert.experiments.row_files import parse_row
from mpbert.foundation.errors import ConfigError

GOOD = {"title": "BM25", "method": "bm25"}


@pytest.mark.parametrize(
    ("found", "verdict"),
    [(0.31, "OK"), (0.29, "OK"), (0.3201, "DIFFERENT"), (0.315, "CLOSE"), (math.nan, "DIFFERENT")],
)
def test_a_score_is_ok_within_the_tolerance_and_close_within_twice(found, verdict):
    assert ScoreCheck("bm25", "MAP@10 P>=1", 0.3, 0.01, found).verdict == verdict


def test_a_row_that_was_not_run_and_one_that_was_are_both_compared():
    content = {**GOOD, "expected": {"rfc": {"MAP@10 P>=1": [0.5, 0.1]}, "acl": {}}}
    rows = [parse_row(name, content, name) for name in ("a", "b")]
    first, second = check_scores(rows, "rfc", {"a": {"MAP@10 P>=1": 0.5}})
    assert (first.verdict, second.verdict) == ("OK", "DIFFERENT")
    assert check_scores(rows, "acl", {}) == []


def test_an_expected_score_that_no_table_has_is_an_error():
    content = {**GOOD, "expected": {"rfc": {"MAP@9 P>=1": [0.5, 0.1]}}}
    with pytest.raises(ConfigError, match="a: expects a score of 'MAP@9 P>=1'; expected one of M"):
        check_scores([parse_row("a", content, "a")], "rfc", {"a": {"MAP@10 P>=1": 0.5}})
