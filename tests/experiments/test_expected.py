import json
import math

import pytest

from mpbert.experiments.expected import EXACT, TRAINED, ScoreCheck, compare_reports, read_report
from mpbert.foundation.errors import ConfigError


def _report(corpus="rfc", split="test", pool="known", **tables):
    """Return a report of tables: name to row to column to mean; the row b is a trained one."""
    content = {
        name: {
            "scores": {
                row: {column: {"mean": mean} for column, mean in columns.items()}
                for row, columns in rows.items()
            }
        }
        for name, rows in tables.items()
    }
    names = dict.fromkeys(row for rows in tables.values() for row in rows)
    rows = [{"name": name, "is_trained": name == "b"} for name in names]
    setting = {"corpus": corpus, "split": split, "task": "local", "pool": pool, "queries": "all"}
    return {**setting, "rows": rows, "tables": content}


@pytest.mark.parametrize(
    ("found", "verdict"),
    [(0.31, "OK"), (0.29, "OK"), (0.3201, "DIFFERENT"), (0.315, "CLOSE"), (math.nan, "DIFFERENT")],
)
def test_a_score_is_ok_within_the_tolerance_and_close_within_twice(found, verdict):
    assert ScoreCheck("bm25", "MAP@10 P>=1", 0.3, 0.01, found).verdict == verdict


def test_what_neither_report_has_is_ok():
    assert ScoreCheck("bm25", "main MAP@10 P>=2", math.nan, EXACT, math.nan).verdict == "OK"


def test_all_columns_of_all_tables_are_compared_trained_rows_with_more_tolerance():
    earlier = _report(
        main={"a": {"x": 0.5, "y": 0.2}, "b": {"x": 0.5, "y": None}}, more={"a": {"z": 0.1}}
    )
    here = _report(
        main={"a": {"x": 0.507, "y": 0.2}, "b": {"x": 0.507, "y": None}}, more={"a": {"z": 0.3}}
    )
    found = compare_reports(here, earlier, "file")
    verdicts = {(check.row, check.column): check.verdict for check in found.checks}
    assert verdicts == {
        ("a", "main x"): "CLOSE",
        ("a", "main y"): "OK",
        ("a", "more z"): "DIFFERENT",
        ("b", "main x"): "OK",
        ("b", "main y"): "OK",
    }
    assert {check.row: check.tolerance for check in found.checks} == {"a": EXACT, "b": TRAINED}
    assert found.num_different == 1
    lines = found.lines()
    assert [line.split()[:2] for line in lines] == [
        ["DIFFERENT", "a"],
        ["DIFFERENT", "more"],
        ["CLOSE", "main"],
        ["OK", "b"],
    ]
    assert "found 0.3000, expected 0.1000" in lines[1]


def test_rows_and_columns_of_one_report_alone_are_named():
    earlier = _report(main={"a": {"x": 0.5}, "gone": {"x": 0.5}})
    found = compare_reports(
        _report(main={"a": {"x": 0.5, "y": 0.1}, "added": {"x": 0.1}}), earlier, "file"
    )
    assert (found.missing, found.new) == (["gone"], ["added"])
    assert found.num_different == 2  # the row that is gone, and a column that came
    assert [line.split()[:2] for line in found.lines()[:2]] == [
        ["missing", "gone"],
        ["new", "added"],
    ]


def test_an_older_report_does_not_tell_its_task_pool_and_queries():
    here = _report(main={"a": {"x": 0.5}})
    earlier = {key: here[key] for key in here if key not in ("task", "pool", "queries")}
    assert compare_reports(here, earlier, "file").num_different == 0


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"corpus": "acl"}, "file: found a report of corpus acl; expected rfc"),
        ({"split": "valid"}, "file: found a report of split valid; expected test"),
        ({"pool": "all"}, "file: found a report of pool all; expected known"),
        ({"main": {"b": {"x": 1}}}, "file: has none of the rows of this report, such as a; expec"),
    ],
)
def test_reports_that_cannot_be_compared_are_refused(other, message):
    here = {"main": {"a": {"x": 0.5}}}
    with pytest.raises(ConfigError, match=message):
        compare_reports(_report(**here), _report(**{**here, **other}), "file")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tables": {"main": {"scores": 3}}}', None])
def test_a_file_that_is_no_report_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "report.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=r"report.json: unreadable \(\w+\); expected report.json"):
        read_report(path)
    path.write_text(json.dumps(_report(main={"a": {"x": 1}})))
    assert read_report(path)["corpus"] == "rfc"
