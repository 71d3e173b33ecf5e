import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from mpbert.corpus.trec import Qrels, Run, run_of_lists
from mpbert.evaluation.build import build_report
from mpbert.evaluation.compare import compare
from mpbert.evaluation.compared import MEASURES, ComparedScore
from mpbert.evaluation.evaluate import Judged, evaluate
from mpbert.evaluation.report import MeasuredQueries, MeasuredRow, Setting
from mpbert.foundation.errors import ConfigError, RunError

QUERIES = [f"paper{i // 4}#{i % 4}" for i in range(60)]
PAPERS = [f"p{i:02d}" for i in range(30)]


def _qrels(rng):
    gold = np.tile([1, 1, 2, 3], 15)
    codes = np.concatenate([rng.choice(30, size, replace=False) for size in gold])
    return Qrels(QUERIES, np.concatenate([[0], np.cumsum(gold)]), PAPERS, codes)


def _run(rng, depth=30, queries=QUERIES):
    rows = np.array([rng.permutation(30)[:depth] for _ in queries])
    return run_of_lists(queries, PAPERS, rows, -np.tile(np.arange(depth), (len(rows), 1)) * 1.0)


@pytest.fixture(scope="module")
def qrels():
    return _qrels(np.random.default_rng(1))


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(2)
    return {"a": _run(rng), "b": _run(rng), "c": _run(rng, 12, QUERIES[:50])}


def test_means_are_those_of_evaluate_and_missing_queries_are_counted(qrels, runs):
    found = compare(qrels, runs, (*MEASURES, "F1@20", "MRR", "Recall@5000"))
    assert len(found) == 7 * 3 * 3
    for name, run in runs.items():
        own = [score for score in found if score.run == name]
        alone = evaluate(qrels, run, (*MEASURES, "F1@20", "MRR", "Recall@5000"))
        assert [(s.measure, s.subset, s.queries, s.missing) for s in own] == [
            (s.measure, s.subset, s.queries, s.missing) for s in alone
        ]
        assert [s.mean for s in own] == pytest.approx([s.mean for s in alone])
        assert own[1].missing == (10 if name == "c" else 0)


def test_a_measure_that_is_named_twice_is_one_comparison(qrels, runs):
    assert compare(qrels, runs, ("MAP@10", "MAP@10")) == compare(qrels, runs, ("MAP@10",))


def test_intervals_and_tests_are_those_of_the_report(qrels, runs):
    runs = {name: runs[name] for name in "ab"}
    found = compare(qrels, runs, ("Recall@10", "MAP@10"), seed=3)
    judged = {name: _judged(qrels, run) for name, run in runs.items()}
    rows = [MeasuredRow(name, name, judged=each) for name, each in judged.items()]
    gold = np.diff(qrels.offsets)
    citing = [query.partition("#")[0] for query in qrels.query_ids]
    queries = MeasuredQueries(
        gold, citing, np.full(60, 2000), np.full(60, np.nan), np.full(60, 30), np.zeros(60)
    )
    report = build_report(Setting("tiny", "test", 31, seed=3), queries, rows)
    table = report.tables[0]
    for score in found:
        r = "ab".index(score.run)
        j = [c.name for c in table.columns].index(f"{score.measure} {score.subset}")
        for field in ("low", "high", "differences_low", "p_randomization", "p_t_test"):
            ours = getattr(score, field.replace("differences", "difference"))
            assert ours == pytest.approx(getattr(table, field)[r, j]), field
        assert score.other == "ba"[r]


def _judged(qrels, run):
    from mpbert.evaluation.evaluate import judge

    found = judge(run, qrels, 30)
    return Judged(np.pad(found.hits, ((0, 0), (0, 70))), found.depths)


def test_the_result_is_a_table_of_pandas(qrels, runs):
    table = pd.DataFrame(compare(qrels, runs, ["MAP@10"]))
    assert list(table.columns) == [field.name for field in dataclasses.fields(ComparedScore)]
    assert table.set_index(["run", "subset"]).loc[("a", "P>=1"), "queries"] == 60


def test_one_run_alone_has_intervals_and_no_tests(qrels, runs):
    (score, *_) = compare(qrels, {"a": runs["a"]}, ["MAP@10"])
    assert score.low < score.mean < score.high
    assert score.other == "" and math.isnan(score.p_randomization)


def test_a_measure_of_whole_runs_has_a_mean_alone(qrels, runs):
    (score, *_) = compare(qrels, runs, ["F1@10"])
    assert score.mean > 0 and math.isnan(score.low) and score.other == ""


def test_papers_or_queries_are_resampled_as_a_whole(qrels, runs):
    by_paper, by_query = (
        compare(qrels, runs, ["MAP@10"], cluster=cluster)[3] for cluster in ("paper", "query")
    )
    assert by_paper.mean == pytest.approx(by_query.mean) and by_paper.low != by_query.low


def test_what_is_wrong_is_refused(qrels, runs):
    with pytest.raises(ConfigError, match=r"unknown measure 'MAP'"):
        compare(qrels, runs, ["MAP"])
    with pytest.raises(ConfigError, match="cluster is 'year'; expected one of paper, query"):
        compare(qrels, runs, cluster="year")
    with pytest.raises(ConfigError, match="found 0 runs and 4 measures"):
        compare(qrels, {})
    other = Run(["x"], np.array([0, 1]), PAPERS, np.array([0]), np.array([1.0]))
    with pytest.raises(RunError, match=r"^mine: found none of the 60 queries of the qrels"):
        compare(qrels, {"mine": other})
