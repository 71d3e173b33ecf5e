import dataclasses
import json
import re

import numpy as np
import pytest

from mpbert.corpus.repeats import Repeats
from mpbert.evaluation.build import build_report
from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.measures import mean_measure, measure
from mpbert.evaluation.plots import plot_report
from mpbert.evaluation.reliability import reliability
from mpbert.evaluation.render import render_report
from mpbert.evaluation.report import DEPTH, MeasuredQueries, MeasuredRow, Setting
from mpbert.evaluation.self_citation import self_citation
from mpbert.evaluation.sheets import sheets_of
from mpbert.evaluation.tuned import Budget, TunedRow

SETTINGS = {"dim": 100, "learning_rate": 0.025, "window": 20, "fields": "abstract+citing"}
TUNED = TunedRow({"window": 20}, 0.31416, 0.3, 6, 96, 0.2312, 1, 6)
BUDGET = Budget(0.25, "MAP@10", "valid", {"local": 1200, "global": 26}, {"local": 1234})
TITLES = ("chance", "BM25, title + abstract", "A <b>bold</b> | 100 % [x]_1 & ~ \\ end")


FAMILIES = ("chance", "lexical", "trained")


def _hits(noise, rate, num_gold, depth):
    """Return hits of lists of 20 papers, looked at to a depth, where noise is below a rate."""
    hits = noise < rate
    hits &= np.cumsum(hits, axis=1) <= num_gold[:, None]
    return np.pad(hits, ((0, 0), (0, depth - 20)))


def _report(
    num_queries=60,
    rows=3,
    cluster="paper",
    budget=BUDGET,
    gold=(1, 1, 2, 3),
    families=FAMILIES,
    seeds=3,
    task="local",
    pool="known",
):
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
        np.full(num_queries, 100) if pool == "all" else 40 + np.arange(num_queries),
        np.arange(num_queries) // (num_queries - 1),
    )
    noise = rng.random((num_queries, 20))
    judged, depths = [], np.full(num_queries, 20)
    for r, rate in list(enumerate((0.02, 0.1, 0.105)))[:rows]:
        hits = _hits(noise if r else rng.random(noise.shape), rate, num_gold, DEPTH[task])
        judged.append(Judged(hits, depths))
    others = [Judged(_hits(noise, rate, num_gold, DEPTH[task]), depths) for rate in (0.11, 0.1)]
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
            reliability=reliability(noise[:, 1], j.hits[:, 0], *noise.T[2:4]) if r == 2 else None,
            other_seeds=others[: seeds - 1] if r == 2 else (),
            family=families[r],
            is_trained=r == 2,
        )
        for r, j in enumerate(judged)
    ]
    table.append(MeasuredRow("absent", "not there yet"))
    repeats = Repeats(np.arange(num_queries + 9) >= num_queries, 4, 7)
    setting = Setting(
        "tiny", "test", 101, "0123456789abcdef", cluster, 1, budget, task, pool, repeats=repeats
    )
    return build_report(setting, queries, table, num_resamples=200, num_samples=1999)


def _queries(num_gold, frequency=np.nan, years=2019, candidates=10):
    """Return queries of few papers, of which none is newer than the manuscript."""
    of_each = [np.full(len(num_gold), value) for value in (years, frequency, candidates, 0)]
    return MeasuredQueries(num_gold, [f"p{i // 2}" for i in range(len(num_gold))], *of_each)


def _found_by_one(num_queries):
    """Return a row whose query i has its paper at rank i."""
    judged = Judged(np.eye(num_queries, 100, dtype=bool), np.full(num_queries, 10))
    return MeasuredRow("a", "a", judged=judged)


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
    at_random = np.mean([10 / n for n in range(40, 99)] + [10 / 99 * 2 / 3])
    for words in (
        "Corpus tiny, split test, manifest 0123456789ab",
        "P = 1: 30, P ≥ 1: 60, P ≥ 2: 30; 12 citing papers",
        "Pool: papers of the manuscript's year or earlier, except the manuscript itself: from 40 "
        "to 99 candidates a query, 70 on average. --pool all keeps newer ones.",
        "Of 105 papers that the queries cite, 1 is newer than the manuscript",
        "Ties: larger score first, then the smaller paper id",
        f"Expected of a random order (P ≥ 1): Recall@10 {100 * at_random:.2f}",
        "1,999 exchanges of whole citing papers",
        "Holm's correction over all comparisons of a table (12, 12, 12, 8)",
        "200 resamples of 12 citing papers (queries of one paper are not independent)",
        "Seed 1",
        "2 queries are missing in its run and count 0",
    ):
        assert words in caption


def test_in_a_pool_of_all_papers_newer_ones_are_candidates():
    caption = " ".join(_report(pool="all").caption)
    assert (
        "101 papers of the corpus except the manuscript itself, 100 candidates a query" in caption
    )
    assert "Recall@10 10.00" in caption and "newer than" not in caption


def test_a_random_split_is_told(report):
    assert "split is random" not in " ".join(report.caption)
    setting = dataclasses.replace(report.setting, split_by="random")
    found = build_report(setting, _queries(np.ones(4, dtype=int)), [_found_by_one(4)], 20, 19)
    assert "The split is random" in " ".join(found.caption)


def test_a_column_without_queries_is_a_dash_in_the_seeds_too():
    texts = render_report(_report(gold=(1, 1, 1, 1)), {})
    lines = texts["txt"].split("Over n seeds of training")[1]
    cells = lines.splitlines()[4].removeprefix(TITLES[2]).split()
    assert cells[0] == "3"
    assert all("+-" in cell for cell in cells[1:3])
    assert cells[3:] == ["-", "-"]


def test_every_value_is_the_mean_over_the_seeds_of_a_row(report):
    row = report.rows[2]
    num_gold = np.tile((1, 1, 2, 3), 15)
    assert len(row.all_judged) == 3
    for table in report.tables:
        for j, column in enumerate(table.columns):
            each = [measure(column.measure, judged.hits, num_gold) for judged in row.all_judged]
            assert len({values.mean() for values in each}) == 3
            expected = np.mean([values[column.subset.mask].mean() for values in each])
            assert table.means[2, j] == pytest.approx(expected)
    for name, values in report.of_runs.items():
        each = [mean_measure(name, judged.hits, num_gold) for judged in row.all_judged]
        assert values[2] == pytest.approx(np.mean(each))
    (curve,) = [curve for curve in report.curves if curve.name == "recall"]
    at_10 = [measure("Recall@10", judged.hits, num_gold).mean() for judged in row.all_judged]
    assert curve.values[2][9] == pytest.approx(np.mean(at_10))
    found = report.seeds["row2"]
    assert np.allclose(found.means, report.tables[0].means[2])


def test_a_trained_row_of_one_seed_says_so_in_every_table_and_format():
    report = _report(seeds=1)
    texts = render_report(report, {})
    shown = TITLES[2] + ", one seed"
    assert [row.full_title for row in report.rows] == [*TITLES[:2], shown]
    assert json.loads(texts["json"])["rows"][2]["title"] == shown
    assert json.loads(texts["json"])["rows"][2]["num_seeds"] == 1
    for suffix, sign in (("html", "end"), ("md", "end"), ("tex", "end"), ("txt", "end,")):
        lines = [line for line in texts[suffix].splitlines() if sign in line and "% " in line]
        assert len(lines) > 8
        without = [line for line in lines if f"{sign}, one seed" not in line]
        assert suffix == "txt" or not without
    text = texts["txt"].splitlines()
    assert max(map(len, text)) <= 100
    broken = [i for i, line in enumerate(text) if line.startswith(TITLES[2][:30])]
    tables = [i for i in broken if ": 2 queries" not in " ".join(text[i : i + 2])]
    assert len(tables) > 8 and all(text[i + 1] == "  one seed" for i in tables)
    assert "One seed, two seeds: the row was trained once or" in " ".join(report.caption)


def test_a_trained_row_of_two_seeds_says_so_and_has_no_mark_of_significance():
    report = _report(num_queries=400, seeds=2)
    assert report.rows[2].full_title == TITLES[2] + ", two seeds"
    clear = [dataclasses.replace(row, is_trained=r == 1) for r, row in enumerate(report.rows)]
    marked = sheets_of(dataclasses.replace(report, rows=[clear[0], clear[2], clear[2]]))[0].rows
    few = sheets_of(dataclasses.replace(report, rows=[clear[1]] * 3))[0].rows
    marks = [cell.mark for _, cells in marked for cell in cells]
    assert "*" in marks
    assert "*" not in [cell.mark for _, cells in few for cell in cells]


def test_rows_of_several_seeds_or_without_training_do_not_say_one_seed(report):
    assert [row.full_title for row in report.rows] == list(TITLES)
    assert report.not_run[0].full_title == "not there yet"
    assert MeasuredRow("a", "A", is_trained=True).full_title == "A"  # it was not run


def test_seeds_of_a_row_are_drawn_anew_in_its_intervals():
    hits = np.zeros((40, 100), dtype=bool)
    found = hits.copy()
    found[:, 0] = True
    depths = np.full(40, 20)
    none, all_of_them = Judged(hits, depths), Judged(found, depths)
    rows = [
        MeasuredRow("a", "a", judged=none, other_seeds=[all_of_them], is_trained=True),
        MeasuredRow("b", "b", judged=none, other_seeds=[none], is_trained=True),
    ]
    queries = dataclasses.replace(_queries(np.ones(40, dtype=int)), citing_ids=range(40))
    table = build_report(Setting("tiny", "test", 11), queries, rows, 300, 19).tables[0]
    j = [column.name for column in table.columns].index("MAP@10 P>=1")
    assert (table.means[0, j], table.low[0, j], table.high[0, j]) == (0.5, 0, 1)
    assert (table.low[1, j], table.high[1, j]) == (0, 0)
    assert (table.differences_low[0, j], table.differences_high[0, j]) == (0, 1)


def test_each_row_is_compared_with_the_strongest_lexical_row_of_each_column():
    report = _report(families=("lexical", "lexical", "trained"))
    table, main = report.against_lexical, report.tables[0]
    names = [column.name for column in table.columns]
    assert names == ["Recall@10 P>=1", "MAP@10 P>=1", "Recall@10 P>=2", "MAP@10 P>=2"]
    assert table.others.T.tolist() == [[1, -1, 1]] * 4
    assert table.num_comparisons == 8
    for j, name in enumerate(names):
        means = main.means[:, [column.name for column in main.columns].index(name)]
        assert np.allclose(table.differences[[0, 2], j], means[[0, 2]] - means[1])
    ends = (table.differences_low, table.differences_high)
    low, high = (end[[0, 2]] for end in ends)
    assert (low < table.differences[[0, 2]]).all() and (table.differences[[0, 2]] < high).all()
    assert (high[0] < 0).all()  # chance is worse
    assert np.isnan(table.differences[1]).all() and np.isnan(table.p_randomization[1]).all()
    sheets = [s for s in sheets_of(report) if "minus the strongest lexical row" in s.title]
    assert len(sheets) == 4
    assert sheets[3].title.startswith("MAP@10, P ≥ 2: ") and sheets[3].title.endswith(TITLES[1])
    assert [cell.text for cell in sheets[3].rows[1][1]] == ["-"] * 4
    assert sheets[3].rows[2][1][0].text == f"{100 * table.differences[2, 3]:+.2f}"
    caption = " ".join(report.caption)
    assert (
        f"these very queries: {TITLES[1]} (Recall@10 P ≥ 1, MAP@10 P ≥ 1, Recall@10 P ≥ 2, MAP"
        in caption
    )
    assert "covers the 8 comparisons of these tables" in caption
    found = json.loads(render_report(report, {})["json"])["against_lexical"]["scores"]
    assert found["row2"]["MAP@10 P>=2"]["other"] == "row1"
    assert found["row1"]["MAP@10 P>=2"] == {
        **found["row1"]["MAP@10 P>=2"],
        **{"other": None, "difference": None, "p_randomization": None, "p_t_test": None},
    }


def test_whole_papers_are_compared_by_mrr_too_and_without_a_lexical_row_nothing_is():
    report = _report(families=("lexical", "trained", "trained"), task="global")
    names = [column.name for column in report.against_lexical.columns]
    assert names == ["MRR P>=1", "Recall@10 P>=1", "MAP@10 P>=1"]
    without = _report(families=("chance", "trained", "trained"))
    assert without.against_lexical is None
    assert "lexical" not in " ".join(without.caption)
    texts = render_report(without, {})
    assert "strongest lexical" not in texts["txt"]
    assert json.loads(texts["json"])["against_lexical"] is None


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
    assert "Developed: CPU hours that our looks at validation had cost" in caption


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
        assert table.num_comparisons == len(table.columns) * (3 - 1)


def test_contexts_have_a_table_of_recall_further_down(report):
    [depth] = [table for table in report.tables if table.name == "depth"]
    names = [column.name for column in depth.columns]
    assert names == [f"Recall@{k} P>=1" for k in (10, 20, 50, 100)]
    assert (np.diff(depth.means, axis=1) >= 0).all() and np.ptp(depth.means, axis=1).min() > 0


def test_the_frequency_table_leaves_out_queries_of_one_paper(report):
    sizes = [len(c.subset) for c in report.tables[2].columns[::2]]
    assert sum(sizes) == 30 and all(sizes)


def test_one_row_alone_is_reported_without_tests():
    report = _report(rows=1)
    assert all(table.num_comparisons == 0 for table in report.tables)
    assert "-" in render_report(report, {})["txt"]


def test_without_queries_of_two_papers_their_columns_are_empty():
    queries = _queries(np.ones(6, dtype=int))
    report = build_report(Setting("tiny", "test", 11), queries, [_found_by_one(6)], 20, 19)
    texts = render_report(report, {})
    assert "cited together in training" not in texts["txt"]
    assert json.loads(texts["json"])["tables"]["main"]["scores"]["a"]["MAP@10 P>=2"]["mean"] is None
    assert set(plot_report(report, "svg")) == {"recall", "intervals"}


def test_where_no_pair_was_seen_the_caption_says_so_in_place_of_a_median():
    queries = _queries(np.full(6, 2), frequency=0.0)
    caption = build_report(Setting("tiny", "test", 11), queries, [_found_by_one(6)], 20, 19).caption
    (line,) = [line for line in caption if line.startswith("Co-citation history")]
    assert "unseen: 0; none was seen, so none is low or high (unseen 6, low 0, high 0" in line


def test_a_row_that_gives_probabilities_says_how_far_they_are_true(report, texts):
    found = report.rows[2].reliability
    (sheet,) = [one for one in sheets_of(report) if one.title == "How sure answers are"]
    ((title, cells),) = sheet.rows
    assert title.startswith(TITLES[2]) and cells[1].text == f"{found.error:.3f}"
    assert [float(cell.text) for cell in cells[3:]] == pytest.approx(
        [100 * found.risk[place - 1] for place in (10, 25, 50, 75, 100)], abs=0.05
    )
    kept = json.loads(texts["json"])["reliability"]
    assert list(kept) == ["row2"] and kept["row2"]["auroc"] == pytest.approx(found.auroc, abs=1e-6)
    assert "AUROC of the probability that the library holds what belongs here" in " ".join(
        report.caption
    )


def test_html_escapes_titles_and_needs_nothing_from_outside(texts):
    html = texts["html"]
    assert "A &lt;b&gt;bold&lt;/b&gt;" in html and "<b>bold" not in html
    assert re.findall("<script[^>]*>", html) == ["<script>"] and "http" not in html
    assert not re.search(r"\ssrc=\"(?!data:)|\shref=\"(?!#)", html)
    assert "data:image/svg+xml;base64,PHN2Zy8+" in html


def test_latex_escapes_titles(texts):
    title = r"A \textless{}b\textgreater{}bold\textless{}/b\textgreater{} | 100 \% {[}x]\_1 \& "
    assert title + r"\textasciitilde{} \textbackslash{} end" in texts["tex"]


def test_markdown_escapes_titles(texts):
    assert r"A \<b\>bold\</b\> \| 100 % \[x\]\_1 & \~ \\ end" in texts["md"]


def test_the_same_numbers_give_the_same_pictures(report):
    first, second = plot_report(report, "svg"), plot_report(_report(), "svg")
    assert set(first) == {
        "recall",
        "frequency",
        "year",
        "intervals",
        "self_citation",
        "reliability",
    }
    assert first == second
    assert all(picture.startswith(b"<?xml") for _, picture in first.values())
