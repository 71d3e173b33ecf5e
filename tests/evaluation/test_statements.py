import dataclasses
import json
import math

import numpy as np
import pytest
from scipy import stats

from mpbert.evaluation.build import build_report
from mpbert.evaluation.claims import Claim
from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.paper_tables import PaperRow, PaperTable
from mpbert.evaluation.render import render_report
from mpbert.evaluation.report import MeasuredQueries, MeasuredRow, Setting
from mpbert.evaluation.statements import Statements

NUM_QUERIES = 200
GOLD = np.tile([1, 2], NUM_QUERIES // 2)
CLAIMS = (
    Claim(
        "a",
        "P",
        "Table 1",
        "The model is above the words. They know neither neighbours nor vectors.",
        "model",
        ("bm25",),
        "MAP@10",
        "P>=2",
    ),
    Claim(
        "b",
        "P",
        "",
        "The model is above no words, and there are none in any row of any file.",
        "model",
        ("no_words",),
        "MAP@10",
        "P>=1",
    ),
)
TABLE = PaperTable(
    *("p-1", "P", "Table 1", ("tiny",)),
    (("Recall@10", "P=1"), ("MAP@10", "P=1"), ("MAP@10", "P>=2")),
    (
        PaperRow("W", "weak", (1.0, 2.0, 3.0), "a MAP above its Recall.", True),
        PaperRow("B", "bm25", (30.0, 20.0, 10.0), "", True),
        PaperRow("absent", "absent", (50.0, 40.0, math.nan)),
        PaperRow("M", "model", (60.0, 50.0, 40.0)),
    ),
    ("All of it is old.",),
)


def _elsewhere(table):
    """Return a table of the same shape whose rows were not run."""
    rows = [dataclasses.replace(row, row="absent") for row in table.rows]
    return dataclasses.replace(table, name="p-2", title="Table 2", rows=rows)


def _judged(rate, seed):
    hits = np.zeros((NUM_QUERIES, 100), dtype=bool)
    hits[:, 1] = np.random.default_rng(seed).random(NUM_QUERIES) < rate
    return Judged(hits, np.full(NUM_QUERIES, 100))


@pytest.fixture(scope="module")
def report():
    rows = [
        MeasuredRow("weak", "weak row", judged=_judged(0.2, 0), is_trained=True),
        MeasuredRow("bm25", "BM25", judged=_judged(0.4, 1), family="lexical"),
        MeasuredRow("model", "the model", judged=_judged(0.9, 2)),
        MeasuredRow("absent", "absent row"),
    ]
    queries = MeasuredQueries(
        GOLD,
        [f"p{i // 4}" for i in range(NUM_QUERIES)],
        np.full(NUM_QUERIES, 2020),
        np.where(GOLD > 1, 1.0, np.nan),
        np.full(NUM_QUERIES, 100),
        np.zeros(NUM_QUERIES, dtype=int),
    )
    statements = Statements(CLAIMS, (TABLE, _elsewhere(TABLE)))
    setting = Setting("tiny", "test", 101, split_by="random")
    return build_report(setting, queries, rows, 200, 999, statements)


@pytest.fixture(scope="module")
def texts(report):
    return render_report(report, {})


def test_claims_are_in_every_format_with_measure_rows_interval_and_verdict(texts):
    assert max(map(len, texts["txt"].splitlines())) <= 100 and texts["txt"].isascii()
    lines = texts["txt"].split("Claims of the papers")[1].splitlines()
    assert lines[2].split() == "measured gain 95 % interval p verdict".split()
    assert lines[3].split()[-1] == "confirmed" and lines[3].startswith("P, Table 1: The model is")
    for suffix in ("md", "tex", "html"):
        text = texts[suffix]
        assert "P, Table 1: The model is above the words." in text and "confirmed" in text
        assert "MAP@10, P = 1" not in text
        assert "the model over BM25" in text
    assert "p{6cm}r" in texts["tex"]


def test_what_was_not_run_is_left_out(texts):
    for text in texts.values():
        assert "no words" not in text and "Table 2" not in text


def test_claims_are_in_the_json(texts):
    (first,) = json.loads(texts["json"])["claims"]
    assert (first["name"], first["verdict"], first["compared_with"]) == ("a", "confirmed", "bm25")
    assert first["low"] < first["difference"] < first["high"] and first["p"] < 0.05


def test_a_papers_table_has_its_rows_in_order_with_ours_above_the_printed_ones(texts):
    title = "P, Table 1, beside ours (tiny, random 80/20 split)"
    lines = texts["txt"].split(title)[1].splitlines()
    assert lines[2].split() == "P = 1 (100) P >= 2 (100)".split()
    assert [line[:28].strip() for line in lines[4:12]] == [
        *("W, one seed", "W, printed (1)", "B", "B, printed"),
        *("absent", "absent, printed", "M", "M, printed"),
    ]
    assert lines[5].split()[-3:] == ["1.00", "2.00", "3.00"]
    assert lines[8].split()[1:] == ["-", "-", "-"]
    assert lines[9].split()[-3:] == ["50.00", "40.00", "-"]
    assert lines[10].split() == ["M", "85.00", "*", "42.50", "*", "23.25", "*"]
    assert "*" not in "".join(lines[4:8])
    assert "(1) W: a MAP above its Recall." in texts["txt"] and "All of it is old." in texts["md"]


def test_the_t_test_is_the_paired_one_against_the_best_baseline(report, texts):
    found = json.loads(texts["json"])["paper_tables"]["p-1"]
    assert found["best_baseline"]["MAP@10 P=1"] == "bm25"
    model = found["rows"][3]["scores"]["MAP@10 P=1"]
    single = GOLD == 1
    ours, theirs = (report.rows[r].judged.hits[single, 1] / 2 for r in (2, 1))
    assert model["mean"] == pytest.approx(ours.mean())
    assert model["p_t_test"] == pytest.approx(stats.ttest_rel(ours, theirs).pvalue, abs=1e-6)
    assert model["p_randomization"] == pytest.approx(3 / 1000)  # three columns were tested
    assert model["printed"] == 0.5
    assert found["rows"][1]["scores"]["MAP@10 P=1"]["p_t_test"] is None
    tests = texts["txt"].split("Tests of Table 1")[1].splitlines()
    assert [line.split()[:4] for line in tests[3:5]] == [
        ["M,", "Recall@10", "P", "="],
        ["M,", "MAP@10", "P", "="],
    ]


def test_a_report_without_statements_has_no_sheet_of_them(report):
    queries = MeasuredQueries(
        *(GOLD, ["p"] * NUM_QUERIES, np.full(NUM_QUERIES, 1), GOLD * np.nan),
        *(np.full(NUM_QUERIES, 100), np.zeros(NUM_QUERIES, dtype=int)),
    )
    plain = build_report(Setting("tiny", "test", 11), queries, report.rows, 20, 19)
    texts = render_report(plain, {})
    assert "Claims" not in texts["txt"] and "printed" not in texts["txt"]
    assert json.loads(texts["json"])["claims"] == []


def test_what_the_paper_does_not_print_has_no_line_and_without_rows_there_are_no_tests(report):
    unprinted = PaperRow("Q", "absent", (math.nan,) * 3)
    rows = (*TABLE.rows[:2], unprinted, TABLE.rows[2])
    statements = Statements((), (dataclasses.replace(TABLE, rows=rows),))
    queries = MeasuredQueries(
        *(GOLD, ["p"] * NUM_QUERIES, np.full(NUM_QUERIES, 1), GOLD * np.nan),
        *(np.full(NUM_QUERIES, 100), np.zeros(NUM_QUERIES, dtype=int)),
    )
    setting = Setting("tiny", "test", 11)
    text = render_report(build_report(setting, queries, report.rows, 20, 19, statements), {})["txt"]
    assert "P, Table 1, beside ours (tiny)" in text and "\nQ  " in text
    assert "Q, printed" not in text and "Tests of Table 1" not in text
