import math

from mpbert.evaluation.compared import ComparedScore
from mpbert.evaluation.side_by_side import as_csv, as_markdown, as_text


def score(run, subset, queries, mean, **more):
    return ComparedScore(run, "MAP@10", subset, queries, 0, mean, **more)


def test_columns_stand_under_one_another_and_empty_subsets_are_left_out():
    scores = [
        score("a", "P=1", 0, math.nan),
        score("longer", "P=1", 0, math.nan),
        score("a", "P>=1", 1, 0.5, low=0.25, high=0.75, p_randomization=0.0004),
        score("longer", "P>=1", 1, 1.0, low=1.0, high=1.0, p_randomization=0.25),
    ]
    assert as_text(scores).splitlines()[:4] == [
        "P>=1: 1 query",
        "run     missing  MAP@10",
        "a       0        50.00 [25.00, 75.00] p<0.001",
        "longer  0        100.00 [100.00, 100.00] p=0.250",
    ]


def test_a_name_cannot_break_a_table():
    assert "| a\\|b | 0 | 50.00 |" in as_markdown([score("a|b", "P>=1", 2, 0.5)])
    assert '\n"a,b",MAP@10,' in as_csv([score("a,b", "P>=1", 2, 0.5)])
