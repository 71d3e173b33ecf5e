import pandas as pd
import pytest

from mpbert import compare, evaluate
from mpbert.corpus.trec import read_qrels, read_run
from mpbert.evaluation import compare as comparing
from mpbert.evaluation.compared import MEASURES
from mpbert.foundation.errors import ConfigError, RunError

CITED = {"a#1": ["x", "y"], "a#2": ["z"], "b#1": ["x"]}
RANKED = {"a#1": ["x", "w", "y"], "a#2": ["w", "z"]}


def test_measures_by_pencil_and_missing_queries_count_zero():
    found = evaluate(CITED, RANKED, ["MRR@10", "Recall@2", "F1@1"])
    assert found.loc[("MRR@10", "P>=1"), "mean"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found.loc[("Recall@2", "P>=2"), "mean"] == 1 / 2
    assert found.loc[("MRR@10", "P=1")].tolist() == [1 / 4, 2, 1]
    assert found.index.names == ["measure", "subset"]
    assert list(found.columns) == ["mean", "queries", "missing"]


def test_files_and_what_was_read_of_them_are_the_same(rfc_corpus, outputs):
    qrels, run = rfc_corpus / "qrels.test.txt", outputs / "runs/trec/rfc/bm25/test.run"
    found = evaluate(str(qrels), run)
    pd.testing.assert_frame_equal(found, evaluate(read_qrels(qrels), read_run(run)))
    assert found.index.get_level_values("measure").unique().tolist() == list(MEASURES)


def test_the_table_holds_what_the_library_finds(rfc_corpus, outputs):
    qrels = rfc_corpus / "qrels.test.txt"
    paths = {name: outputs / f"runs/trec/rfc/{name}/test.run" for name in ("bm25", "tfidf")}
    found = compare(qrels, paths, ["MAP@10"], seed=3, cluster="query")
    runs = {name: read_run(path) for name, path in paths.items()}
    expected = comparing.compare(read_qrels(qrels), runs, ["MAP@10"], 3, "query")
    assert found.scores == expected
    for score in expected:
        line = found.table.loc[(score.measure, score.subset, score.run)]
        assert (line["mean"], line["p_randomization"]) == (score.mean, score.p_randomization)
    assert str(found).count("\nbm25 ") == 3 and found.to_markdown().count("\n| bm25 |") == 3


def test_ranks_of_a_list_are_kept_whatever_the_ids():
    found = evaluate({"q": ["b"]}, {"q": ["z", "b", "a"]}, ["MRR"])
    assert found.loc[("MRR", "P>=1"), "mean"] == 1 / 2


def test_what_is_wrong_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="unknown measure 'MAP'"):
        evaluate(CITED, RANKED, ["MAP"])
    with pytest.raises(RunError, match="the run: query 'q' has a paper twice"):
        evaluate(CITED, {"q": ["x", "x"]})
    with pytest.raises(RunError, match="mine: query 'q' has a paper twice, or a text for a list"):
        compare(CITED, {"mine": {"q": "x"}})
    with pytest.raises(RunError, match="the qrels: query 'q' has no relevant paper"):
        evaluate({"q": []}, {})
    with pytest.raises(RunError, match=r"the run: found none of the \d queries .*, but 'c#1'"):
        evaluate(CITED, {"c#1": ["x"]})
    with pytest.raises(RunError, match=r"none\.run: cannot be read"):
        evaluate(CITED, tmp_path / "none.run")
    with pytest.raises(ConfigError, match="found 0 runs"):
        compare(CITED, {})
    with pytest.raises(ConfigError, match="runs is a list; expected a dictionary: name to run"):
        compare(CITED, [RANKED])
    with pytest.raises(ConfigError, match="measures is one text, 'MAP@10'; expected a list"):
        evaluate(CITED, RANKED, "MAP@10")
    with pytest.raises(ConfigError, match=r"did you mean Recall@10\?"):
        evaluate(CITED, RANKED, ["recall_10"])
