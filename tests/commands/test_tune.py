import json
import math
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import yaml

from mpbert.commands import retrieve, tune
from mpbert.corpus.queries import qrels_name
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import read_qrels, read_run
from mpbert.evaluation.evaluate import judge, num_gold
from mpbert.evaluation.measures import mean_measure
from mpbert.experiments import trials
from mpbert.experiments.measured import Measured
from mpbert.experiments.processes import step_environment
from mpbert.foundation.errors import ConfigError, MpbertError

BM25 = {"title": "BM25", "method": "bm25", "settings": {"k1": 0.001}, "space": {"k1": [0.001, 2]}}
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_steps")]
LOG = Path("tuned.trials/bm25.jsonl")
# tune, but SIGTERM comes to it while the first trial runs, or when it is asked what a row lacks
STOPPED = """
import os, signal, sys
from mpbert.cli import main
from mpbert.experiments import trials
from mpbert.experiments.steps import Step
if sys.argv[1] == "trial":
    ended = 'kill -TERM "$1"; trap "exit 143" TERM; while :; do sleep 0.1; done'
    words = ["bash", "-c", ended, "slow", str(os.getpid())]
    Step.command = property(lambda step: words)
else:
    trials.lacking = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
sys.exit(main(["tune", *sys.argv[2:]]))
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(place, **rows):
    (place / "rows").mkdir(exist_ok=True)
    for name, content in rows.items():
        (place / "rows" / f"{name}.yaml").write_text(yaml.safe_dump(content))


def _tune(corpus, **options):
    tune.run(tune.Config(corpus, Path("rows"), Path("out"), Path("tuned.yaml"), **options))
    return yaml.safe_load(Path("tuned.yaml").read_text())


def _records(log=LOG):
    return [json.loads(line) for line in log.open()]


def test_the_best_settings_on_validation_are_written_and_trials_that_ended_are_kept(
    rfc_corpus, place, capfd
):
    _write(place, bm25=BM25, untuned={"title": "Chance", "method": "chance"})
    corpus = shutil.copytree(rfc_corpus, place / "rfc")
    (corpus / "qrels.test.txt").unlink()  # it is not read
    (corpus / "manifest.json").unlink()  # it tells of that file
    found = _tune(corpus)
    store = CorpusStore(rfc_corpus)
    of_tasks = {task: store.queries("valid", task).distinct() for task in ("global", "local")}
    queries = {task: len(found) for task, found in of_tasks.items()}
    assert list(found) == ["budget", "rows"]
    assert found["budget"] == {
        **{"cpu_hours": 0.25, "measure": "MAP@10", "split": "valid"},
        **{"queries": queries, "of": queries, "pool": "known", "start": ""},
    }
    row = found["rows"].pop("bm25")
    assert found["rows"] == {}
    assert (row["settings"], row["trials"], row["space_size"]) == ({"k1": 2}, 2, 2)
    assert row["score"] > row["default"] > 0.1
    seconds = sum(record["cpu_seconds"] for record in _records())
    assert seconds > 0 and row["cpu_hours"] == round(seconds / 3600, 4)
    assert [path.name for path in LOG.parent.iterdir()] == ["bm25.jsonl"]

    LOG.write_text(LOG.read_text().splitlines()[0] + "\n")  # killed in the second trial
    again = _tune(corpus, only=["bm25"])["rows"]["bm25"]
    assert [record["settings"] for record in _records()] == [{"k1": 0.001}, {"k1": 2}]
    assert {**again, "cpu_hours": 0} == {**row, "cpu_hours": 0}


def test_a_sample_of_the_queries_is_ranked_and_measured_in_both_tasks(
    rfc_corpus, place, monkeypatch, capfd
):
    ranked, scores = {}, trials._scores
    monkeypatch.setattr(
        trials,
        "_scores",
        lambda path, *more: ranked.setdefault(more[-1], read_run(path)) and scores(path, *more),
    )
    whole = {**BM25, "task": "global", "space": {"k1": [0.001]}}
    _write(place, bm25={**BM25, "space": {"k1": [0.001]}}, whole=whole)
    found = _tune(rfc_corpus, queries=10)
    assert found["budget"]["queries"] == {"local": 10, "global": 10}
    assert found["budget"]["of"]["local"] > found["budget"]["of"]["global"] > 10
    for task, name in (("local", "bm25"), ("global", "whole")):
        qrels = read_qrels(rfc_corpus / qrels_name(task, "valid"))
        assert len(ranked[task]) == 10
        part = judge(ranked[task], qrels, 10)
        is_ranked = np.isin(qrels.query_ids, ranked[task].query_ids)
        mean = mean_measure("MAP@10", part.hits[is_ranked], num_gold(qrels)[is_ranked])
        assert found["rows"][name]["score"] == pytest.approx(mean, abs=1e-6) and mean > 0.1


def test_a_row_waits_for_the_rows_it_takes_runs_of_and_is_tried_anew_when_they_change(
    rfc_corpus, place, capfd, caplog
):
    one = {**BM25, "order": 1}
    first = {"title": "Cited", "method": "citation_candidates", "inputs": ["bm25"], "order": 2}
    _write(place, bm25=one, cited={**first, "space": {"k": [5, 10]}})
    caplog.set_level("INFO")
    with pytest.raises(FileNotFoundError):  # nothing was tuned, so there is no file
        _tune(rfc_corpus, only=["cited"])
    assert "cited: left out, it takes out/trec/rfc/bm25, which is not made" in caplog.text
    log = Path("tuned.trials/cited.jsonl")
    for number, k1 in enumerate((1, 2), start=1):
        shutil.rmtree("out/trec", ignore_errors=True)
        run = Path("out/trec/rfc/bm25")
        retrieve.run(retrieve.Config(rfc_corpus, run, lexical="bm25", settings=[f"k1={k1}"]))
        _tune(rfc_corpus, only=["cited"])
        assert len(_records(log)) == 2 * number


def test_a_trial_whose_input_is_remade_meanwhile_is_one_of_the_old_input(
    rfc_corpus, place, quick, monkeypatch
):
    _write(place, bm25={**BM25, "order": 1})
    cited = {"title": "Cited", "method": "citation_candidates", "inputs": ["bm25"], "order": 2}
    _write(place, cited={**cited, "space": {"k": [5]}})
    run, execute = Path("out/trec/rfc/bm25"), trials.execute

    def remake(k1):
        shutil.rmtree(run, ignore_errors=True)
        retrieve.run(retrieve.Config(rfc_corpus, run, lexical="bm25", settings=[f"k1={k1}"]))

    def execute_and_remake(*words):
        remake(2)
        return execute(*words)

    remake(1)
    monkeypatch.setattr(trials, "execute", execute_and_remake)
    _tune(rfc_corpus, only=["cited"], trials=1)
    monkeypatch.setattr(trials, "execute", execute)
    _tune(rfc_corpus, only=["cited"], trials=1)
    assert len(_records(Path("tuned.trials/cited.jsonl"))) == 2  # of each input one


def test_a_run_of_all_queries_is_measured_by_the_sample_alone(rfc_corpus, place):
    """As those of our model, which make-rows finds."""
    _write(place, bm25=BM25)
    options = {"lexical": "bm25", "splits": ["valid"]}
    for name, sample in (("all", None), ("some", 10)):
        retrieve.run(retrieve.Config(rfc_corpus, Path(name), **options, sample=sample))
    config = tune.Config(rfc_corpus, Path("rows"), Path("out"), Path("tuned.yaml"), queries=10)
    tuning = tune._tuning(config)
    scores = [trials._scores(Path(name, "valid.run"), tuning, "local") for name in ("all", "some")]
    assert scores[0] == scores[1]


@pytest.fixture
def quick(monkeypatch):
    """Steps that take 31 CPU s by their own account, and fail where told; what they were asked."""
    asked, failing = [], []

    def execute(step, log, beside):
        asked.append(step.words)
        return Measured(16.0, 31.0, 100, int(step.words[-1] in failing), "no room")

    monkeypatch.setattr(trials, "execute", execute)
    monkeypatch.setattr(trials, "_scores", lambda path, *_: {"MAP@10": len(asked) / 10})
    return asked, failing


def test_only_the_validation_split_is_ranked_and_measured(rfc_corpus, place, quick):
    _write(place, dense={"title": "W", "method": "word2vec", "space": {"dim": [50, 200]}})
    _tune(rfc_corpus)
    fits, ranks = quick[0][::2], quick[0][1::2]
    assert len(fits[0]) == 5
    assert sorted(words[-1] for words in fits[1:]) == ["dim=200", "dim=50"]
    local = len(CorpusStore(rfc_corpus).contexts("valid").distinct())
    assert all(words[-4:] == ("--sample", f"{local}", "--splits", "valid") for words in ranks)


def test_no_trial_is_begun_that_does_not_fit_and_what_trials_cost_counts_on(
    rfc_corpus, place, quick
):
    _write(place, bm25={**BM25, "space": {"k1": [1, 2, 3, 4, 5, 6, 7]}})
    hours = 3 * 31 / 3600  # three fit, not a minute more
    found = _tune(rfc_corpus, cpu_hours=hours)["rows"]["bm25"]
    assert (found["trials"], found["space_size"]) == (3, 8)
    assert len(quick[0]) == 3
    again = _tune(rfc_corpus, cpu_hours=hours, only=["bm25"])["rows"]["bm25"]
    assert again["cpu_hours"] == round(hours, 4)
    assert len(quick[0]) == 3
    queries = r"--pool known, \d+ of \d+ local, \d+ of \d+ global queries"
    with pytest.raises(
        ConfigError,
        match=r"tuned.yaml: is of another budget \(--cpu-hours 0.0258333 --measure MAP@10 "
        rf"{queries}; here --cpu-hours 0 --measure MAP@10 {queries}\)",
    ):
        _tune(rfc_corpus, cpu_hours=0)
    with pytest.raises(
        ConfigError, match=r"is of another budget .*; here .* 9 of \d+ local, 9 of \d+ global que"
    ):
        _tune(rfc_corpus, cpu_hours=hours, queries=9)
    with pytest.raises(ConfigError, match=r"--pool known, .*; here .* --pool all, "):
        _tune(rfc_corpus, cpu_hours=hours, pool="all")


@pytest.mark.parametrize(
    ("when", "said"), [("trial", "[1/1] bm25, trial 1/2: retrieve was stopped"), ("row", "stopped")]
)
def test_sigterm_ends_a_trial_which_leaves_no_record_and_no_other_is_begun(
    rfc_corpus, place, when, said
):
    _write(place, bm25=BM25)
    words = [sys.executable, "-c", STOPPED, when, str(rfc_corpus), "rows", "out", "tuned.yaml"]
    ended = subprocess.run(words, env=step_environment(), capture_output=True, text=True)
    assert ended.returncode == 143
    lines = [line for line in ended.stderr.splitlines() if line]
    assert lines[-1] == f"mpbert tune: {said}; run this again, and it goes on"
    assert sum(line.endswith(" ...") for line in lines) == (when == "trial")
    assert not LOG.exists() and not Path("tuned.yaml").exists()


def test_without_a_budget_the_rows_own_settings_are_measured(rfc_corpus, place, quick):
    _write(place, bm25=BM25)
    assert _tune(rfc_corpus, cpu_hours=0)["rows"]["bm25"]["trials"] == len(quick[0]) == 1


def test_rows_that_are_in_the_file_are_left_and_others_added(rfc_corpus, place, quick, caplog):
    caplog.set_level("INFO")
    _write(place, bm25=BM25)
    _tune(rfc_corpus)
    _write(
        place, tfidf={**BM25, "method": "tfidf", "settings": {}, "space": {"citing_weight": [1]}}
    )
    assert list(_tune(rfc_corpus)["rows"]) == ["bm25", "tfidf"]
    assert "[1/2] bm25: is in tuned.yaml; --only tunes it again" in caplog.messages
    assert len(quick[0]) == 4


def test_a_trial_that_fails_has_no_score_and_a_row_without_any_is_named(
    rfc_corpus, place, quick, caplog
):
    caplog.set_level("INFO")
    quick[1].append("valid")  # the last word
    _write(place, bm25=BM25)
    with pytest.raises(MpbertError, match="all trials failed of bm25; see above"):
        _tune(rfc_corpus)
    assert "[1/1] bm25, trial 1/2: failed, retrieve: no room" in caplog.messages
    assert [record["exit_code"] for record in _records()] == [1, 1]
    assert not Path("tuned.yaml").exists()


def test_our_model_is_tuned_by_trainings_that_are_kept(rfc_corpus, place, quick, monkeypatch):
    monkeypatch.setattr(trials, "outdated", lambda *_: "")
    ours = {"title": "Ours", "method": "mp_bert4cr", "config": "bag", "settings": {"dim": 12}}
    _write(place, ours={**ours, "space": {"lr": [0.1, 0.2, 0.3]}})
    Path("configs/finetune/configs").mkdir(parents=True)
    Path("configs/finetune/configs/bag.yaml").write_text("training: {lr: 0.3}")
    Path("out/trec/rfc/ours").mkdir(parents=True)
    Path("out/trec/rfc/ours/manifest.json").write_text("{}")  # make-rows made it
    Path("out/cost/rfc").mkdir(parents=True)
    cost = {"seconds": 1, "cpu_seconds": 20, "peak_mib": 1, "exit_code": 0, "cores": 2}
    steps = ("binarize", "finetune", "embed", "retrieve")
    records = [json.dumps({"step": step, **cost}) for step in steps]
    Path("out/cost/rfc/ours.jsonl").write_text("\n".join(records) + "\n")
    rows = _tune(rfc_corpus, configs=Path("configs"))["rows"]
    trained = [words for words in quick[0] if words[0] == "finetune"]
    assert sorted((words[3], words[-1]) for words in trained) == [
        (f"out/encoders/rfc/ours-lr-{lr}", f"lr={lr}") for lr in (0.1, 0.2)
    ]
    assert all("--splits" not in words for words in quick[0])
    assert rows["ours"]["trials"] == 3
    log = Path("tuned.trials/ours.jsonl")
    assert [record["cpu_seconds"] for record in _records(log)] == [80, 124, 124]


def test_a_run_without_the_validation_split_is_a_trial_that_failed(
    rfc_corpus, place, monkeypatch, caplog
):
    caplog.set_level("INFO")
    _write(place, bm25=BM25)
    monkeypatch.setattr(trials, "execute", lambda *_: Measured(1.0, 1.0, 100, 0))
    with pytest.raises(MpbertError, match="all trials failed of bm25"):
        _tune(rfc_corpus)
    assert "valid.run" in caplog.messages[1] and "failed" in caplog.messages[1]


def test_a_wrong_value_of_a_space_is_refused_before_anything_is_begun(rfc_corpus, place, quick):
    _write(place, bm25={**BM25, "space": {"k1": [-1]}})
    with pytest.raises(ConfigError, match="row bm25: --settings k1=-1: found -1; expected at"):
        _tune(rfc_corpus)
    assert not quick[0]


def test_rows_that_are_tuned_at_once_get_the_settings_of_one_after_another(
    rfc_corpus, place, capfd
):
    tfidf = {"title": "T", "method": "tfidf", "space": {"fields": ["abstract", "text"]}}
    _write(place, bm25=BM25, tfidf=tfidf, other={**BM25, "space": {"b": [0, 0.5, 1]}})
    alone = _tune(rfc_corpus)
    Path("tuned.yaml").unlink()
    shutil.rmtree("tuned.trials")
    capfd.readouterr()
    beside = _tune(rfc_corpus, at_once=3)
    said = {line.partition(": ")[0] for line in capfd.readouterr().err.splitlines()}
    assert {"bm25 1", "other 1", "tfidf 1"} <= said  # lines of steps that run beside others
    assert list(alone["rows"]) == ["bm25", "other", "tfidf"]
    for row in [*alone["rows"].values(), *beside["rows"].values()]:
        assert isinstance(row.pop("cpu_hours"), float)  # of so little, it may be 0.0000
    assert beside == alone
    with pytest.raises(ConfigError, match="--at-once 0; expected 1 or more"):
        _tune(rfc_corpus, at_once=0)


@pytest.fixture
def dear(monkeypatch):
    """CPU s of trials by number, those below 2 fail; each that began, and what ran then."""
    costs, begun, running = {}, [], []

    def execute(step, log, beside):
        number = int(Path(step.words[2]).parts[-2])
        begun.append((number, list(running)))
        running.append(number)
        if TOGETHER in costs and number:
            costs[TOGETHER].wait(60)  # breaks unless as many are there
        running.remove(number)
        cpu_seconds = costs.get(number, 31.0)
        return Measured(1.0, cpu_seconds, 100, int(cpu_seconds < 2))

    monkeypatch.setattr(trials, "execute", execute)
    monkeypatch.setattr(trials, "_scores", lambda run, *_: {"MAP@10": int(run.parts[-3]) / 10})
    return costs, begun


TOGETHER = "barrier"  # where all trials but the first wait for each other
OWN = {"k1": [0.001]}  # nothing but the row's own setting
SEVEN = {**BM25, "space": {"k1": [1, 2, 3, 4, 5, 6]}}


def test_trials_of_a_row_run_at_once_after_the_first(rfc_corpus, place, dear):
    _write(place, bm25=SEVEN)
    alone = _tune(rfc_corpus)
    Path("tuned.yaml").unlink()
    shutil.rmtree("tuned.trials")
    dear[1].clear()
    dear[0][TOGETHER] = threading.Barrier(3)
    assert _tune(rfc_corpus, at_once=3) == alone
    assert dear[1][0] == (0, []) and all(0 not in others for _, others in dear[1])


@pytest.mark.parametrize("at_once", [1, 5])
def test_trials_at_once_keep_the_budget_of_one_after_another(rfc_corpus, place, dear, at_once):
    dear[0][0] = 1  # it fails, so it does not tell what one costs
    _write(place, bm25=SEVEN)
    found = _tune(rfc_corpus, at_once=at_once, cpu_hours=(1 + 3 * 31) / 3600)["rows"]["bm25"]
    assert found["trials"] == 4 and found["failed"] == 1
    assert dear[1][1] == (1, [])


def test_rows_come_in_their_order_and_are_written_once_their_trials_ended(
    rfc_corpus, place, dear, monkeypatch
):
    written = []
    monkeypatch.setattr(tune, "_add", lambda path, budget, name, outcome: written.append(name))
    _write(place, one={**SEVEN, "order": 1}, two={**BM25, "space": OWN, "order": 2})
    tune.run(tune.Config(rfc_corpus, Path("rows"), Path("out"), Path("tuned.yaml"), at_once=2))
    assert written == ["two", "one"]
    written.clear()
    shutil.rmtree("tuned.trials")
    tune.run(tune.Config(rfc_corpus, Path("rows"), Path("out"), Path("tuned.yaml")))
    assert written == ["one", "two"]


def test_what_was_tried_counts_where_a_kill_left_a_trial_out(rfc_corpus, place, dear):
    _write(place, bm25=SEVEN)
    hours = 4 * 31 / 3600
    before = _tune(rfc_corpus, cpu_hours=hours)["rows"]["bm25"]
    lines = LOG.read_text().splitlines()
    assert len(lines) == before["trials"] == 4
    LOG.write_text("\n".join([lines[0], *lines[2:]]) + "\n")
    dear[0][1] = 60  # it takes twice as long now
    again = _tune(rfc_corpus, cpu_hours=hours, only=["bm25"])["rows"]["bm25"]
    assert (again["score"], again["trials"]) == (before["score"], 4)
    assert again["cpu_hours"] == round((3 * 31 + 60) / 3600, 4)


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_row_has_no_more_trials_than_it_may(rfc_corpus, place, quick, at_once):
    _write(place, bm25={**BM25, "space": {"k1": [1, 2, 3, 4]}})
    few = _tune(rfc_corpus, trials=2, at_once=at_once)["rows"]["bm25"]
    assert (few["trials"], few["space_size"], few["most"], len(quick[0])) == (2, 5, 2, 2)
    more = _tune(rfc_corpus, trials=3, only=["bm25"], at_once=at_once)["rows"]["bm25"]
    assert (more["trials"], more["most"], len(quick[0])) == (3, 3, 3)  # two were made before
    every = _tune(rfc_corpus, only=["bm25"], at_once=at_once)["rows"]["bm25"]
    assert every["trials"] == 5 and "most" not in every
    with pytest.raises(ConfigError, match="--trials 0; expected 1 or more"):
        _tune(rfc_corpus, trials=0)


def test_sigterm_ends_all_rows_that_are_tuned_at_once(rfc_corpus, place):
    _write(place, bm25=BM25, other=BM25)
    words = [sys.executable, "-c", STOPPED, "trial", str(rfc_corpus), "rows", "out", "tuned.yaml"]
    words += ["--at-once", "2"]
    found = subprocess.run(
        words, env=step_environment(), capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 143, found.stderr
    expected = "mpbert tune: stopped; run this again, and it goes on"
    assert expected in found.stderr.splitlines()  # lines of trials that end may follow
    assert not Path("tuned.yaml").exists() and not Path("tuned.trials").exists()


def test_a_row_without_a_space_that_is_asked_for_is_named(rfc_corpus, place, caplog):
    caplog.set_level("INFO")
    _write(place, chance={"title": "Chance", "method": "chance"})
    with pytest.raises(FileNotFoundError):  # nothing was tuned, so there is no file
        _tune(rfc_corpus, only=["chance"])
    assert caplog.messages == ["chance has no space of settings; nothing to tune"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cpu_hours": math.nan}, "--cpu-hours is nan; expected 0 or more, and finite"),
        ({"cpu_hours": math.inf}, "--cpu-hours is inf; expected 0 or more, and finite"),
        ({"cpu_hours": -1}, "--cpu-hours is -1; expected 0 or more, and finite"),
        ({"queries": 0}, "--queries 0; expected 1 or more"),
    ],
)
def test_a_budget_without_end_or_without_queries_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        tune.Config(Path("corpus"), Path("rows"), Path("out"), Path("tuned.yaml"), **options)
