import json

import numpy as np
import pytest

from mpbert.evaluation.build import build_report
from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.plots import plot_report
from mpbert.evaluation.render import render_report
from mpbert.evaluation.report import MeasuredQueries, MeasuredRow, Setting
from mpbert.evaluation.self_citation import self_citation
from mpbert.evaluation.tuned import Budget, TunedRow

SETTINGS = {"dim": 100, "learning_rate": 0.025, "window": 20, "fields": "abstract+citing"}
TUNED = TunedRow({"window": 20}, 0.31416, 0.3, 6, 96, 0.2312, 1)
BUDGET = Budget(0.25, "MAP@10", "valid", {"local": 1200, "global": 26}, {"local": 1234})
TITLES = ("chance", "BM25, title + abstract", "A <b>bold</b> | 100 % [x]_1 & ~ \\ end")


def _report(num_queries=60, rows=3, cluster="paper", budget=BUDGET, gold=(1, 1, 2, 3)):
    """Return a report of rows that find more and more; row 2 is nearly as good as row 1."""
    rng = np.random.default_rng(5)
    num_gold = np.tile(gold, num_queries // 4)
    queries = MeasuredQueries(
        num_gold,
        [f"paper{i // 5}" for i in range(num_queries)],
        2017 + np.arange(num_queries) * 3 // num_queries,
        np.where(
            num_gold > 1,
            np.tile([0.0, 0, 0, 0, 1, 1, 2.5, 40], num_queries // 4)[:num_queries],
            np.nan,
        ),
    )
    noise = rng.random((num_queries, 20))
    judged = []
    for r, rate in list(enumerate((0.02, 0.1, 0.105)))[:rows]:
        hits = (noise if r else rng.random(noise.shape)) < rate
        hits &= np.cumsum(hits, axis=1) <= num_gold[:, None]
        hits = np.pad(hits, ((0, 0), (0, 80)))  # lists of 20 papers, looked at to rank 100
        judged.append(Judged(hits, np.full(num_queries, 20)))
    table = [
        MeasuredRow(
            f"row{r}",
            TITLES[r],
            note="k1 = 1.2 & b_0" if r == 1 else "",
            judged=j,
            remarks=("2 queries are missing in its run and count 0",) if r == 2 else (),
            settings=SETTINGS if r == 1 and budget else {},
            tuned=TUNED if r == 1 and budget else None,
            developed=0.75 if r == 2 and budget else None,
            published={"corpus": "AAN", "MRR": 0.25, "F1@20": 0.125} if r == 1 else {},
            self_citation=self_citation(j.hits, (1, 10, 100)) if r else None,
            other_seeds=judged[:2] if r == 2 else (),
        )
        for r, j in enumerate(judged)
    ]
    table.append(MeasuredRow("absent", "not there yet"))
    setting = Setting("tiny", "test", 101, "0123456789abcdef", cluster, budget=budget)
    return build_report(setting, queries, table, num_resamples=200, num_samples=1999)


@pytest.fixture(scope="module")
def report():
    return _report()


@pytest.fixture(scope="module")
def texts(report):
    return render_report(report, {"Recall@k": b"<svg/>"})


@pytest.mark.parametrize("suffix", ["txt", "md", "tex", "html", "json"])
def test_the_report_is_the_golden_one(texts, golden, suffix):
    golden(f"report.{suffix}", texts[suffix])


def test_the_text_fits_100_columns_and_is_ascii_but_for_titles(texts):
    assert max(map(len, texts["txt"].splitlines())) <= 100
    assert texts["txt"].isascii()


def test_a_row_that_was_not_run_is_listed_in_every_format(texts):
    for suffix in ("txt", "md", "tex", "html"):
        assert "Not run: not there yet." in texts[suffix]
    assert json.loads(texts["json"])["not_run"] == [{"name": "absent", "title": "not there yet"}]


def test_the_caption_names_queries_pool_ties_tests_and_seed(report):
    caption = " ".join(report.caption)
    for words in (
        "Corpus tiny, split test, manifest 0123456789ab",
        "P = 1: 30, P ≥ 1: 60, P ≥ 2: 30; 12 citing papers",
        "101 papers of the corpus but the citing one, 100 candidates a query",
        "Ties: larger score first, then the smaller paper id",
        "Expected of a random order (P ≥ 1): Recall@10 10.00",
        "1,999 exchanges of whole citing papers",
        "Holm's correction over all comparisons of a table (12, 12, 12)",
        "200 resamples of 12 citing papers (queries of one paper are not independent)",
        "Seed 1",
        "2 queries are missing in its run and count 0",
    ):
        assert words in caption


def test_a_column_without_queries_is_a_dash_in_the_seeds_too():
    texts = render_report(_report(gold=(1, 1, 1, 1)), {})
    lines = texts["txt"].split("Over n seeds of training")[1]
    cells = lines.splitlines()[4].removeprefix(TITLES[2]).split()
    assert cells[0] == "3"
    assert all("+-" in cell for cell in cells[1:3])
    assert cells[3:] == ["-", "-"]


def test_settings_are_in_the_appendix_and_what_their_choice_cost(report, texts):
    title = "Tuning on validation, the same budget for every row"
    for suffix in ("txt", "md", "tex", "html"):
        assert title in texts[suffix]
    settings, tuning = texts["txt"].split("\nSettings\n")[1].split(title)
    words = "dim=100 learning_rate=0.025 window=20 fields=abstract+citing"
    assert words.split() == settings.split(TITLES[1])[1].split(TITLES[2])[0].split()
    lines = tuning.splitlines()
    assert [line.split() for line in lines[2:7]] == [
        ["CPU", "hours", "MAP@10"],
        ["trials", "tuning", "developed", "own", "chosen"],
        ["chance", "none", "-", "-", "-", "-"],
        [*TITLES[1].split(), "6/96", "-1", "0.231", "-", "30.00", "31.42"],
        [*TITLES[2].split(), "none", "-", "0.75", "-", "-"],
    ]
    found = json.loads(texts["json"])
    assert found["budget"] == vars(BUDGET)
    assert found["rows"][1]["tuned"] == vars(TUNED)
    assert found["rows"][1]["settings"] == SETTINGS
    assert [row["developed"] for row in found["rows"]] == [None, None, 0.75]
    caption = " ".join(report.caption)
    assert (
        "chosen by mean MAP@10 over a fixed random sample of 1,200 of the 1,234 queries of the "
        "valid split. Every row that has a space of settings has the same budget, 0.25 CPU hours."
    ) in caption
    assert "Developed: CPU hours, at least" in caption


def test_a_task_whose_queries_are_all_ranked_has_no_sample():
    budget = Budget(0.25, "MAP@10", "valid", {"local": 1234}, {"local": 1234})
    caption = " ".join(_report(budget=budget).caption)
    assert "mean MAP@10 over all 1,234 queries of the valid split" in caption


def test_without_tuning_the_report_says_so():
    report = _report(budget=None)
    assert "no tuning was done for this report" in " ".join(report.caption)
    assert "Settings\n" not in render_report(report, {})["txt"]


def test_resampling_single_queries_is_said_and_narrows_nothing_else(report):
    by_query = _report(cluster="query")
    assert "200 resamples of 60 queries." in " ".join(by_query.caption)
    assert np.allclose(by_query.tables[0].means, report.tables[0].means)


def test_the_best_row_is_marked_and_a_level_one_too(report):
    table = report.tables[0]
    j = [column.name for column in table.columns].index("Recall@10 P>=1")
    assert table.is_best[:, j].tolist() == [False, False, True]
    assert table.is_level[:, j].tolist() == [False, True, False]
    assert not table.is_better[2, j]
    assert table.others[:, j].tolist() == [2, 2, 1]
    inside = (table.low <= table.means) & (table.means <= table.high)
    assert inside.all()


def test_best_against_second_and_second_against_best_are_one_comparison_with_one_p(report):
    for table in report.tables:
        best = np.argmax(table.means, axis=0)
        cells = np.arange(len(table.columns))
        second = table.others[best, cells]
        assert (table.p_randomization[best, cells] == table.p_randomization[second, cells]).all()
        assert table.num_comparisons == 6 * (3 - 1)


def test_the_frequency_table_leaves_out_queries_of_one_paper(report):
    sizes = [len(c.subset) for c in report.tables[2].columns[::2]]
    assert sum(sizes) == 30 and all(sizes)


def test_one_row_alone_is_reported_without_tests():
    report = _report(rows=1)
    assert all(table.num_comparisons == 0 for table in report.tables)
    assert "-" in render_report(report, {})["txt"]


def test_without_queries_of_two_papers_their_columns_are_empty():
    num_gold = np.ones(6, dtype=int)
    queries = MeasuredQueries(num_gold, list("aabbcc"), np.full(6, 2019), np.full(6, np.nan))
    rows = [MeasuredRow("a", "a", judged=Judged(np.eye(6, 100, dtype=bool), np.full(6, 10)))]
    report = build_report(Setting("tiny", "test", 11), queries, rows, 20, 19)
    texts = render_report(report, {})
    assert "cited together in training" not in texts["txt"]
    assert json.loads(texts["json"])["tables"]["main"]["scores"]["a"]["MAP@10 P>=2"]["mean"] is None
    assert set(plot_report(report, "svg")) == {"recall", "intervals"}


def test_where_no_pair_was_seen_the_caption_says_so_in_place_of_a_median():
    queries = MeasuredQueries(np.full(6, 2), list("aabbcc"), np.full(6, 2019), np.zeros(6))
    rows = [MeasuredRow("a", "a", judged=Judged(np.eye(6, 100, dtype=bool), np.full(6, 10)))]
    caption = build_report(Setting("tiny", "test", 11), queries, rows, 20, 19).caption
    (line,) = [line for line in caption if line.startswith("Co-citation history")]
    assert "unseen: 0; none was seen, so none is low or high (unseen 6, low 0, high 0" in line


def test_html_escapes_titles_and_needs_nothing_from_outside(texts):
    html = texts["html"]
    assert "A &lt;b&gt;bold&lt;/b&gt;" in html and "<b>bold" not in html
    assert "<script" not in html and "http" not in html
    assert "data:image/svg+xml;base64,PHN2Zy8+" in html


def test_latex_escapes_titles(texts):
    title = r"A \textless{}b\textgreater{}bold\textless{}/b\textgreater{} | 100 \% {[}x]\_1 \& "
    assert title + r"\textasciitilde{} \textbackslash{} end" in texts["tex"]


def test_markdown_escapes_titles(texts):
    assert r"A \<b\>bold\</b\> \| 100 % \[x\]\_1 & \~ \\ end" in texts["md"]


def test_the_same_numbers_give_the_same_pictures(report):
    first, second = plot_report(report, "svg"), plot_report(_report(), "svg")
    assert set(first) == {"recall", "frequency", "year", "intervals", "self_citation"}
    assert first == second
    assert all(picture.startswith(b"<?xml") for _, picture in first.values())
