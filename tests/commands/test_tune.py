import json
import shutil
from pathlib import Path

import pytest
import yaml

from mpbert.commands import retrieve, tune
from mpbert.corpus.store import CorpusStore
from mpbert.experiments import trials
from mpbert.experiments.measured import Measured
from mpbert.foundation.errors import ConfigError, MpbertError

BM25 = {"title": "BM25", "method": "bm25", "settings": {"k1": 0.001}, "space": {"k1": [0.001, 2]}}
LOG = Path("out/tuning/rfc/bm25/trials.jsonl")


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
    queries = len(CorpusStore(rfc_corpus).contexts("valid").distinct())
    assert list(found) == ["budget", "rows"]
    assert found["budget"] == {
        **{"trials": 4, "minutes": 15, "measure": "MAP@10", "split": "valid"},
        "queries": queries,
    }
    row = found["rows"].pop("bm25")
    assert found["rows"] == {}
    assert (row["settings"], row["trials"]) == ({"k1": 2}, 2)
    assert row["score"] > row["default"] > 0.1
    assert [path.name for path in LOG.parent.iterdir()] == ["trials.jsonl"]

    LOG.write_text(LOG.read_text().splitlines()[0] + "\n")  # killed in the second trial
    again = _tune(corpus, only=["bm25"])["rows"]["bm25"]
    assert [record["settings"] for record in _records()] == [{"k1": 0.001}, {"k1": 2}]
    assert {**again, "seconds": 0} == {**row, "seconds": 0}


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
    log = Path("out/tuning/rfc/cited/trials.jsonl")
    for number, k1 in enumerate((1, 2), start=1):
        shutil.rmtree("out/trec", ignore_errors=True)
        run = Path("out/trec/rfc/bm25")
        retrieve.run(retrieve.Config(rfc_corpus, run, lexical="bm25", settings=[f"k1={k1}"]))
        _tune(rfc_corpus, only=["cited"])
        assert len(_records(log)) == 2 * number


@pytest.fixture
def quick(monkeypatch):
    """Steps that take 31 s by their own account, and fail where told to; what they were asked."""
    asked, failing = [], []

    def execute(step, log):
        asked.append(step.words)
        return Measured(31.0, 31.0, 100, int(step.words[-1] in failing), "no room")

    monkeypatch.setattr(trials, "execute", execute)
    monkeypatch.setattr(trials, "_scores", lambda path, tuning: {"MAP@10": len(asked) / 10})
    return asked, failing


def test_only_the_validation_split_is_ranked_and_measured(rfc_corpus, place, quick):
    _write(place, dense={"title": "W", "method": "word2vec", "space": {"dim": [50, 200]}})
    _tune(rfc_corpus)
    fits, ranks = quick[0][::2], quick[0][1::2]
    assert len(fits[0]) == 5
    assert sorted(words[-1] for words in fits[1:]) == ["dim=200", "dim=50"]
    assert all(words[-2:] == ("--splits", "valid") for words in ranks)


def test_no_trial_is_begun_after_the_time_and_the_time_counts_on(rfc_corpus, place, quick):
    _write(place, bm25={**BM25, "space": {"k1": [1, 2, 3, 4, 5, 6, 7]}})
    assert _tune(rfc_corpus, minutes=1)["rows"]["bm25"]["trials"] == 2
    assert len(quick[0]) == 2
    assert _tune(rfc_corpus, minutes=1, only=["bm25"])["rows"]["bm25"]["seconds"] == 62
    assert len(quick[0]) == 2
    with pytest.raises(
        ConfigError,
        match=r"tuned.yaml: is of another budget \(--trials 4 --minutes 1 --measure MAP@10; here "
        r"--trials 4 --minutes 2 --measure MAP@10\)",
    ):
        _tune(rfc_corpus, minutes=2)


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
    assert "[1/1] bm25: failed, retrieve: no room" in caplog.messages
    assert [record["exit_code"] for record in _records()] == [1, 1]
    assert not Path("tuned.yaml").exists()


def test_our_model_is_tuned_by_trainings_that_are_kept(rfc_corpus, place, quick, monkeypatch):
    monkeypatch.setattr(trials, "outdated", lambda *_: "")
    ours = {"title": "Ours", "method": "mp_bert4cr", "config": "bag", "settings": {"dim": 8}}
    _write(place, ours={**ours, "space": {"lr": [0.1, 0.2]}})
    Path("out/trec/rfc/ours").mkdir(parents=True)
    Path("out/trec/rfc/ours/manifest.json").write_text("{}")  # make-rows made it
    Path("out/cost/rfc").mkdir(parents=True)
    cost = {"seconds": 20, "cpu_seconds": 1, "peak_mib": 1, "exit_code": 0, "cores": 2}
    steps = ("binarize", "finetune", "embed", "retrieve")
    records = [json.dumps({"step": step, **cost}) for step in steps]
    Path("out/cost/rfc/ours.jsonl").write_text("\n".join(records) + "\n")
    rows = _tune(rfc_corpus)["rows"]
    trained = [words for words in quick[0] if words[0] == "finetune"]
    assert sorted((words[3], words[-1]) for words in trained) == [
        (f"out/encoders/rfc/ours-lr-{lr}", f"lr={lr}") for lr in (0.1, 0.2)
    ]
    assert all("--splits" not in words for words in quick[0])
    assert rows["ours"]["trials"] == 3
    log = Path("out/tuning/rfc/ours/trials.jsonl")
    assert [record["seconds"] for record in _records(log)] == [80, 124, 124]


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


def test_a_row_without_a_space_that_is_asked_for_is_named(rfc_corpus, place, caplog):
    caplog.set_level("INFO")
    _write(place, chance={"title": "Chance", "method": "chance"})
    with pytest.raises(FileNotFoundError):  # nothing was tuned, so there is no file
        _tune(rfc_corpus, only=["chance"])
    assert caplog.messages == ["chance has no space of settings; nothing to tune"]


@pytest.mark.parametrize("minutes", ["nan", "inf", "-1"])
def test_a_time_without_end_is_refused(minutes):
    message = rf"--minutes is {float(minutes)}; expected 0 or more, and finite"
    with pytest.raises(ConfigError, match=message):
        tune.Config(
            Path("corpus"), Path("rows"), Path("out"), Path("tuned.yaml"), minutes=float(minutes)
        )
