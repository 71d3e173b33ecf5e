import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from mpbert.cli import main
from mpbert.commands import make_rows
from mpbert.experiments import making
from mpbert.experiments.experiment import Experiment
from mpbert.experiments.identity import check_row
from mpbert.experiments.layout import Layout
from mpbert.experiments.measured import Measured
from mpbert.experiments.processes import step_environment
from mpbert.experiments.row_cost import cost_with_inputs
from mpbert.experiments.row_files import read_rows
from mpbert.experiments.rows import choose_rows
from mpbert.experiments.tuning import Tuned
from mpbert.foundation.errors import ConfigError, RowsFailedError
from mpbert.foundation.manifest import claimed

ROOT = Path(__file__).parents[2]
CHANCE = {"title": "Chance", "method": "chance", "settings": {"dim": 8}, "order": 1}
SLOW = {"title": "Slow", "method": "tfidf", "settings": {"fields": "abstract"}, "order": 2}
BM25 = {"title": "BM25", "method": "bm25", "settings": {"fields": "abstract"}, "order": 3}
OURS = {"title": "Ours", "method": "mp_bert4cr", "config": "bag", "order": 4}
ROWS = [*read_rows(ROOT / "eval" / "rows"), *read_rows(ROOT / "eval" / "ablations.yaml")]
# make-rows, but the row "slow" first tells its number and waits until there is a file "go"
SLOW_ROWS = """
import sys
from mpbert.cli import main
from mpbert.experiments.steps import Step
command = Step.command.fget
wait = 'echo $$ > pid; [ -e go ] || sleep 100; exec "$@"'
Step.command = property(lambda step: ["bash", "-c", wait, "slow", *command(step)]
                        if "tfidf" in step.words else command(step))
sys.exit(main(["make-rows", *sys.argv[1:]]))
"""
# make-rows, but SIGTERM comes when it is asked whether a step is done
ENDED_ROWS = """
import os, signal, sys
from mpbert.cli import main
from mpbert.experiments import making
making.is_done = lambda step: os.kill(os.getpid(), signal.SIGTERM)
sys.exit(main(["make-rows", *sys.argv[1:]]))
"""
pytestmark = pytest.mark.usefixtures("forked_steps")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(place, **rows):
    (place / "rows").mkdir(exist_ok=True)
    for name, content in rows.items():
        (place / "rows" / f"{name}.yaml").write_text(yaml.safe_dump(content))


def _run(corpus, *only, **options):
    make_rows.run(make_rows.Config(corpus, Path("rows"), Path("out"), only, **options))


def _cost(name):
    return [json.loads(line) for line in Path(f"out/cost/rfc/{name}.jsonl").open()]


def _wait_for(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen in 300 s")


def _is_alive(pid):
    # A process may end between any two looks at it: its entry is read at once, or is gone.
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_killed_run_goes_on_with_what_is_missing(rfc_corpus, place, caplog, capfd):
    _write(place, chance=CHANCE, slow=SLOW, bm25=BM25)
    words = [sys.executable, "-c", SLOW_ROWS, str(rfc_corpus), "rows", "out"]
    process = subprocess.Popen(words, env=step_environment(), cwd=place)
    _wait_for(lambda: (place / "pid").exists() and (place / "pid").read_text())
    process.send_signal(signal.SIGKILL)
    process.wait()
    child = int((place / "pid").read_text())
    _wait_for(lambda: not _is_alive(child))
    assert not Path("out/trec/rfc/slow").exists()
    made = Path("out/trec/rfc/chance/manifest.json").stat().st_mtime_ns
    assert [record["step"] for record in _cost("chance")] == ["fit"] * 2 + ["retrieve"] * 2

    (place / "go").touch()
    found = subprocess.run(words, env=step_environment(), cwd=place, capture_output=True, text=True)
    assert Path("out/trec/rfc/chance/manifest.json").stat().st_mtime_ns == made
    exit_codes = [record.get("exit_code") for record in _cost("slow")]
    assert exit_codes == [None, -signal.SIGTERM, None, 0]
    assert Path("out/trec/rfc/bm25/test.run").exists()
    ended = _cost("bm25")[-1]
    assert (ended["step"], ended["exit_code"]) == ("retrieve", 0)
    assert {record["output"] for record in _cost("bm25")} == {"out/trec/rfc/bm25"}
    assert ended["seconds"] > 0 and ended["cpu_seconds"] > 0
    assert ended["peak_mib"] > 20 and ended["cores"] >= 1
    shown = found.stderr.splitlines()
    for line in ("[1/3] chance: finished", "[2/3] slow: retrieve ...", "[3/3] bm25: retrieve ..."):
        assert any(line in each for each in shown), found.stderr

    caplog.set_level("INFO", "mpbert")
    _run(rfc_corpus)
    assert caplog.messages == [
        "[1/3] chance: finished",
        "[2/3] slow: finished",
        "[3/3] bm25: finished",
    ]
    caplog.clear()
    _write(place, chance={**CHANCE, "settings": {"dim": 9}})
    assert main(["make-rows", str(rfc_corpus), "rows", "out"]) == 3
    both = "out/vectors/rfc/chance and out/trec/rfc/chance"
    assert caplog.messages == [
        f"[1/3] chance: failed, {both}: made with other settings or inputs than these: config "
        "(settings: dim=8 there, dim=9 asked) (see config.yaml there); remove what is named, and "
        "run this again",
        "[2/3] slow: finished",
        "[3/3] bm25: finished",
    ]
    assert "1 of 3 rows failed: chance; see above" in capfd.readouterr().err
    for output in both.split(" and "):
        shutil.rmtree(output)
    _run(rfc_corpus, "chance")


def test_each_step_says_how_long_all_rows_take_yet(rfc_corpus, place, caplog, capfd):
    caplog.set_level("INFO", "mpbert")
    _write(place, chance=CHANCE, slow=SLOW, bm25=BM25)
    cost = Path("out/cost/rfc")
    cost.mkdir(parents=True)
    ended = {"cpu_seconds": 1.0, "peak_mib": 9, "cores": 1, "exit_code": 0}
    (cost / "slow.jsonl").write_text(json.dumps({"step": "retrieve", "seconds": 3600.0, **ended}))
    _run(rfc_corpus, "chance", "slow", "bm25")
    said = dict(re.findall(r"^\[./3\] (.*) \.\.\., (.*)$", "\n".join(caplog.messages), re.M))
    # nothing is known of chance and bm25 before they were made
    unknown = " without {} of a method that was not timed here yet"
    assert said["chance: fit"] == "1:00:00 left" + unknown.format("2 rows")
    assert said["slow: retrieve"] == "1:00:00 left" + unknown.format("1 row")
    assert said["bm25: retrieve"] == "time left not known: 1 row" + unknown[len(" without {}") :]
    caplog.clear()
    shutil.rmtree("out/trec/rfc/bm25")
    _run(rfc_corpus, "bm25")
    assert any(message.endswith(" left for all rows") for message in caplog.messages)


def test_sigterm_ends_the_step_that_runs_and_no_other_is_begun(rfc_corpus, place):
    _write(place, slow=SLOW, bm25=BM25)
    words = [sys.executable, "-c", SLOW_ROWS, str(rfc_corpus), "rows", "out"]
    with subprocess.Popen(
        words, env=step_environment(), cwd=place, stderr=subprocess.PIPE, text=True
    ) as process:
        _wait_for(lambda: (place / "pid").exists() and (place / "pid").read_text())
        process.terminate()
        said = process.stderr.read().splitlines()
    assert process.returncode == 143
    expected = "[1/2] slow: retrieve was stopped; run this again, and it goes on"
    assert said[-1] == f"mpbert make-rows: {expected}"
    assert not _is_alive(int((place / "pid").read_text()))
    assert [record.get("exit_code") for record in _cost("slow")] == [None, -signal.SIGTERM]
    assert not Path("out/cost/rfc/bm25.jsonl").exists()


def test_sigterm_between_two_steps_is_one_line_and_143(rfc_corpus, place):
    _write(place, bm25=BM25)
    words = [sys.executable, "-c", ENDED_ROWS, str(rfc_corpus), "rows", "out"]
    ended = subprocess.run(words, env=step_environment(), capture_output=True, text=True)
    assert ended.returncode == 143
    assert ended.stderr == "mpbert make-rows: stopped; run this again, and it goes on\n"
    assert list((place / "out").rglob("*")) == [place / "out" / "cost", place / "out/cost/rfc"]


def test_trained_rows_are_made_with_each_seed(rfc_corpus, place, caplog, capfd):
    caplog.set_level("INFO", "mpbert")
    _write(place, chance=CHANCE, bm25=BM25)
    _run(rfc_corpus, seeds=3)
    runs = Path("out/trec/rfc")
    names = {path.name for path in runs.iterdir()}
    assert names == {"chance", "chance-seed-2", "chance-seed-3", "bm25"}
    assert len({(runs / name / "test.run").read_text() for name in names}) == 4
    caplog.clear()
    _run(rfc_corpus, seeds=3)
    assert caplog.messages == [
        "[1/4] chance: finished",
        "[2/4] bm25: finished",
        "[3/4] chance, seed 2: finished",
        "[4/4] chance, seed 3: finished",
    ]
    with pytest.raises(ConfigError, match="--seeds 0; expected 1 or more"):
        make_rows.Config(rfc_corpus, Path("rows"), Path("out"), seeds=0)
    with pytest.raises(ConfigError, match="--at-once 0; expected 1 or more"):
        make_rows.Config(rfc_corpus, Path("rows"), Path("out"), at_once=0)


def test_no_seed_is_made_of_an_encoder_that_all_seeds_share():
    experiment = Experiment.of(ROWS, Path("data/acl"), Layout(Path("out")), Tuned(), ROOT)
    choice = choose_rows(ROWS, "acl", ["hierarchical_minilm_half"])
    made = [(each.row.name, each.seed) for each in making.variants_of(experiment, choice, 2)]
    assert made[-2:] == [("token_bag_matches", 2), ("hierarchical_minilm_half", 2)]
    assert ("minilm_finetuned_citing", 1) in made and ("minilm_finetuned_citing", 2) not in made


def test_rows_of_trained_rows_are_made_with_each_seed_of_these(rfc_corpus, place, caplog, capfd):
    caplog.set_level("INFO", "mpbert")
    settings = {"method": "reciprocal"}
    fused = {"title": "F", "method": "fusion", "inputs": ["chance", "bm25"], "settings": settings}
    _write(place, chance=CHANCE, bm25=BM25, fused={**fused, "order": 4})
    _run(rfc_corpus, seeds=2)
    made = [line.split(":")[0] for line in caplog.messages if "made in" in line]
    assert made == [
        *("[1/5] chance", "[2/5] bm25", "[3/5] fused"),
        *("[4/5] chance, seed 2", "[5/5] fused, seed 2"),
    ]
    runs = Path("out/trec/rfc")
    inputs = yaml.safe_load((runs / "fused-seed-2" / "config.yaml").read_text())["runs"]
    assert inputs == ["out/trec/rfc/chance-seed-2", "out/trec/rfc/bm25"]
    texts = {(runs / name / "test.run").read_text() for name in ("fused", "fused-seed-2")}
    assert len(texts) == 2


def test_a_row_with_a_ready_made_model_has_to_say_what_that_has_read(rfc_corpus, place):
    ready = {"title": "R", "method": "sbert"}
    _write(place, ready=ready)
    message = (
        r"row ready: its model distilbert/distilbert-base-uncased was trained elsewhere; expected "
        r"a line 'pretrained_on: \{texts"
    )
    with pytest.raises(ConfigError, match=message):
        _run(rfc_corpus)
    read = {"texts": "Wikipedia", "holds_test": {"rfc": "no"}}
    start = {"settings": {"model": "random:1x32"}}
    _write(place, ready={**ready, **start, "pretrained_on": read})
    with pytest.raises(ConfigError, match="row ready: found pretrained_on, but it takes no model"):
        _run(rfc_corpus)
    assert not Path("out").exists()


def test_a_row_is_made_anew_for_another_corpus_of_the_same_name(rfc_corpus, place, caplog, capfd):
    _write(place, bm25=BM25)
    _run(rfc_corpus)
    other = shutil.copytree(rfc_corpus, place / "rfc")
    manifest = json.loads((other / "manifest.json").read_text())
    del manifest["checksum"]
    (other / "manifest.json").write_text(json.dumps({**manifest, "counts": {}}))
    caplog.set_level("INFO", "mpbert")
    with pytest.raises(RowsFailedError):
        _run(other)
    assert "out/trec/rfc/bm25: made with other settings or inputs" in caplog.text


def test_a_row_is_made_by_one_process_at_a_time(rfc_corpus, place, caplog):
    caplog.set_level("INFO", "mpbert")
    _write(place, chance=CHANCE)
    with claimed(Path("out/cost/rfc/chance.jsonl")), pytest.raises(RowsFailedError):
        _run(rfc_corpus)
    assert "another process is writing it; wait until it ends, or end it" in caplog.messages[0]
    assert not Path("out/vectors").exists()


@pytest.fixture
def scripted(monkeypatch):
    """Steps that do nothing and end with the exit code of their row; the words they were asked."""
    asked, codes = [], {}

    def execute(step, log, beside):
        asked.append(step.words)
        code = next((code for name, code in codes.items() if step.words[2].endswith(name)), 0)
        return Measured(1.0, 1.0, 100, code, "no such model" if code else "")

    monkeypatch.setattr(making, "execute", execute)
    return asked, codes


def test_a_row_that_fails_is_named_and_leaves_the_rest_alone(rfc_corpus, place, caplog, scripted):
    asked, codes = scripted
    _write(place, bad={**BM25, "optional": True, "order": 1}, good=BM25)
    codes["bad"] = 3
    caplog.set_level("INFO", "mpbert")
    _run(rfc_corpus)
    assert "[1/2] bad: failed, retrieve ended with 3: no such model" in caplog.messages
    assert caplog.messages[-1] == "1 of 2 rows failed: bad (optional); see above"
    assert len(asked) == 2
    _write(place, bad={**BM25, "order": 1})
    with pytest.raises(RowsFailedError, match="1 of 2 rows failed: bad; see above, and run this a"):
        _run(rfc_corpus, "bad", "good")


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_row_that_needs_what_failed_fails_too_and_others_do_not(
    rfc_corpus, place, caplog, scripted, at_once
):
    first = {"title": "C", "method": "citation_candidates", "inputs": ["bm25"], "order": 5}
    _write(place, bm25=BM25, cited=first, slow=SLOW)
    scripted[1]["bm25"] = 2
    caplog.set_level("INFO", "mpbert")
    with pytest.raises(RowsFailedError, match="2 of 3 rows failed: bm25, cited"):
        _run(rfc_corpus, at_once=at_once)
    assert "[3/3] cited: failed, it needs what failed: bm25" in caplog.messages
    assert sum(": made in " in message for message in caplog.messages) == 1


@pytest.mark.parametrize(("code_of", "made"), [("rfc/chance", 2), ("chance-seed-2", 1)])
def test_a_row_of_a_seed_needs_what_is_of_this_seed(
    rfc_corpus, place, caplog, scripted, code_of, made
):
    settings = {"method": "reciprocal"}
    fused = {"title": "F", "method": "fusion", "inputs": ["chance", "bm25"], "settings": settings}
    _write(place, chance=CHANCE, bm25=BM25, fused={**fused, "order": 4})
    scripted[1][code_of] = 3
    caplog.set_level("INFO", "mpbert")
    with pytest.raises(RowsFailedError, match="2 of 3 rows failed: chance, fused"):
        _run(rfc_corpus, seeds=2)
    names = {1: "[3/5] fused", 2: "[5/5] fused, seed 2"}
    assert f"{names[made]}: made in 1.0 s" in caplog.messages
    assert f"{names[3 - made]}: failed, it needs what failed: chance" in caplog.messages


def test_rows_that_are_made_at_once_are_those_that_are_made_one_after_another(
    rfc_corpus, place, caplog, capfd
):
    lists = {"title": "C", "method": "citation_candidates", "inputs": ["bm25"]}
    few = {"epochs": 1, "dim": 8, "triplets": 1000, "neighbours": 5}
    learnt = {"title": "N", "method": "nnselect", "settings": few}
    rows = {"chance": CHANCE, "slow": SLOW, "bm25": BM25, "learnt": {**learnt, "order": 4}}
    rows |= {"cited": {**lists, "order": 5}, "again": {**lists, "inputs": ["cited"], "order": 6}}
    _write(place, **rows)
    caplog.set_level("INFO", "mpbert")
    _run(rfc_corpus, seeds=2)
    alone = {path: path.read_bytes() for path in Path("out/trec/rfc").glob("*/*.run")}
    shutil.rmtree("out")
    caplog.clear()
    capfd.readouterr()
    _run(rfc_corpus, seeds=2, at_once=3)
    assert {path: path.read_bytes() for path in Path("out/trec/rfc").glob("*/*.run")} == alone
    assert len(alone) == 2 * (
        2 * len(["chance", "learnt"]) + len(["slow", "bm25", "cited", "again"])
    )
    made = [m.split()[1].rstrip(":,") for m in caplog.messages if ": made in " in m]
    assert made.index("bm25") < made.index("cited") < made.index("again")
    said = capfd.readouterr().err.splitlines()
    assert any(line.startswith("learnt, seed 2: test: ") for line in said)
    _run(rfc_corpus, seeds=2, at_once=3)
    assert caplog.messages[-1].endswith(": finished")


def test_a_step_that_rows_share_is_made_once_and_the_others_wait_for_it(rfc_corpus, place, capfd):
    training = {"training": {"lexical": "bm25", "fields": "abstract", "top": 10}}
    reranker = {"method": "dual_lcr", "inputs": ["bm25"], **training}
    quick = {"dim": 8, "hidden": 8, "epochs": 1, "longest": 16, "batch": 200, "depth": 5}
    quick |= {"word_epochs": 1, "negatives": 6}
    _write(
        place,
        bm25=BM25,
        **{
            n: {"title": n, "order": 5, "settings": {**quick, "margin": m}, **reranker}
            for n, m in (("a", 0.1), ("b", 0.2))
        },
    )
    _run(rfc_corpus, at_once=2)
    steps = sorted(r["step"] for name in ("a", "b") for r in _cost(name) if "exit_code" in r)
    assert steps == ["rerank", "rerank", "training lists"]
    assert capfd.readouterr().err.count(": train: ") == 1


def test_sigterm_ends_all_rows_that_are_made_at_once(rfc_corpus, place):
    _write(place, slow=SLOW, other={**SLOW, "order": 1}, bm25=BM25)
    words = [sys.executable, "-c", SLOW_ROWS.replace("> pid", "> $$.pid"), str(rfc_corpus)]
    words += ["rows", "out", "--at-once", "2"]
    with subprocess.Popen(
        words, env=step_environment(), cwd=place, stderr=subprocess.PIPE, text=True
    ) as process:
        _wait_for(lambda: sum(bool(path.read_text()) for path in place.glob("*.pid")) == 2)
        process.terminate()
        said = process.stderr.read().splitlines()
    assert process.returncode == 143
    assert said[-1] == "mpbert make-rows: stopped; run this again, and it goes on"
    for name in ("slow", "other"):
        assert [record.get("exit_code") for record in _cost(name)] == [None, -signal.SIGTERM]
    assert not any(_is_alive(int(path.stem)) for path in place.glob("*.pid"))
    assert not Path("out/cost/rfc/bm25.jsonl").exists()


def test_rows_that_are_made_at_once_share_the_cores_and_a_row_alone_has_all(
    rfc_corpus, place, monkeypatch
):
    threads = []

    def execute(step, log, beside):
        threads.append(beside and beside.threads)
        return Measured(1.0, 1.0, 100, 0)

    monkeypatch.setattr(making, "execute", execute)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    _write(place, bm25=BM25, slow=SLOW)
    _run(rfc_corpus, at_once=4)
    _run(rfc_corpus, "bm25", at_once=4)
    assert threads == [4, 4, None]


def test_what_a_named_row_needs_is_made_first(rfc_corpus, place, caplog, capfd):
    first = {"title": "C", "method": "citation_candidates", "inputs": ["bm25"], "order": 5}
    second = {**first, "inputs": ["cited"], "order": 6}
    _write(place, chance=CHANCE, bm25={**BM25, "corpora": ["acl"]}, cited=first, again=second)
    caplog.set_level("INFO", "mpbert")
    _run(rfc_corpus, "again")
    assert caplog.messages[0] == "made first, since others need them: bm25, cited"
    assert {path.name for path in Path("out/trec/rfc").iterdir()} == {"bm25", "cited", "again"}


def test_a_run_of_another_system_that_cannot_be_measured_fails_alone(rfc_corpus, place, caplog):
    lost, broken = ({"title": t, "run": f"../{t}.run", "order": 1} for t in ("lost", "broken"))
    _write(place, lost=lost, broken=broken, chance=CHANCE)
    (place / "broken.run").write_text("nobody#1 Q0 RFC2119 1 1 t\n")
    caplog.set_level("INFO", "mpbert")
    with pytest.raises(RowsFailedError, match="2 of 3 rows failed: broken, lost"):
        _run(rfc_corpus)
    said = "\n".join(caplog.messages)
    assert "lost: failed, rows/../lost.run: no such file; expected a TREC run" in said
    assert "broken: failed, rows/../broken.run: found none of the " in said
    assert Path("out/trec/rfc/chance/test.run").exists()


def test_rows_of_other_corpora_are_counted_and_made_where_they_are_named(
    rfc_corpus, place, caplog, capfd
):
    _write(place, chance=CHANCE, bm25={**BM25, "corpora": ["acl"]})
    caplog.set_level("INFO", "mpbert")
    _run(rfc_corpus)
    assert caplog.messages[0] == (
        "left out: 1 row for other corpora or of the appendix; --only makes it"
    )
    assert not Path("out/trec/rfc/bm25").exists()
    _run(rfc_corpus, "bm25")
    assert Path("out/trec/rfc/bm25/test.run").exists()


def test_a_row_that_needs_a_gpu_is_left_out_without_one_unless_it_is_named(
    rfc_corpus, place, caplog, monkeypatch, scripted
):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    deep = {"title": "D", "method": "citation_candidates", "inputs": ["bm25"], "order": 5}
    _write(place, bm25={**BM25, "gpu": True}, deep={**deep, "gpu": True})
    caplog.set_level("INFO", "mpbert")
    _run(rfc_corpus)
    assert caplog.messages == [
        "[1/2] bm25: left out, no GPU; --only bm25 makes it anyway",
        "[2/2] deep: left out, no GPU; --only deep makes it anyway",
    ]
    _run(rfc_corpus, "deep")
    assert [words[0] for words in scripted[0]] == ["retrieve", "rerank"]


@pytest.mark.parametrize("corpus", ["rfc", "acl"])
def test_configurations_methods_and_settings_of_this_repository_exist(corpus):
    from mpbert.model.configuration import read_configuration

    rows = {row.name: row.on(corpus) for row in ROWS}
    experiment = Experiment(rows, Path(corpus), Layout(Path("out")), Tuned(), ROOT)
    for row in rows.values():
        check_row(experiment, row.name)
        if row.config:
            words = [f"{name}={value}" for name, value in row.settings.items()]
            read_configuration(experiment.config_file("finetune", row.config), "finetune", words)


@pytest.mark.parametrize("folder", [True, False])
def test_settings_chosen_by_tuning_go_over_those_of_the_row(rfc_corpus, place, scripted, folder):
    _write(place, chance=CHANCE)
    budget = {"cpu_hours": 1, "measure": "MAP@10", "split": "valid"}
    budget |= {"queries": {"local": 9}, "of": {"local": 12}}
    row = {"settings": {"dim": 4}, "score": 0.2, "default": 0.1, "trials": 2}
    row |= {"space_size": 5, "cpu_hours": 0.5}
    Path("tuned").mkdir()
    text = yaml.safe_dump({"budget": budget, "rows": {"chance": row}})
    Path("tuned/rfc.yaml").write_text(text)
    _run(rfc_corpus, tuned=Path("tuned") if folder else Path("tuned/rfc.yaml"))
    assert scripted[0][0][-2:] == ("--settings", "dim=4")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "chanze"}, "row chance: unknown method 'chanze'; expected one of chance"),
        ({"settings": {"dims": 8}}, "row chance: --settings dims=8: chance has no setting"),
        ({"settings": {"dim": 0.5}}, "row chance: --settings dim=0.5: found '0.5'; expected"),
        (
            {"method": "bm25", "settings": {}, "similarity": "dot"},
            "row chance: bm25 has no similarity; leave it out",
        ),
        ({"method": "bm25", "settings": {}, "dim": 3}, "row chance: bm25 has no dim; leave it"),
        ({"method": "fusion", "settings": {}}, "fusion needs inputs"),
        (
            {"method": "mp_bert4cr", "settings": {}, "config": "big"},
            "row chance: there is no configuration configs/finetune/configs/big.yaml; give --conf",
        ),
    ],
)
def test_a_wrong_row_is_refused_before_anything_is_begun(rfc_corpus, place, change, message):
    _write(place, chance={**CHANCE, **change})
    with pytest.raises(ConfigError) as error:
        _run(rfc_corpus, configs=Path("configs"))
    assert message in str(error.value)
    assert not (place / "out").exists()


def test_a_row_of_a_reranker_takes_the_runs_of_rows_before_it(rfc_corpus, place, capfd):
    citing = {**BM25, "title": "Citing", "settings": {"fields": "citing"}, "order": 4}
    fused = {"title": "Fused", "method": "fusion", "inputs": ["bm25", "citing"], "order": 5}
    _write(place, bm25=BM25, citing=citing, fused=fused)
    for name in ("bm25", "citing", "fused"):
        content = yaml.safe_load((place / "rows" / f"{name}.yaml").read_text())
        content |= {"task": "global", "top": 20, "order": content["order"] + 10}
        content["inputs"] = [f"global_{i}" for i in content.get("inputs", [])]
        _write(place, **{f"global_{name}": content})
    _run(rfc_corpus)
    local = Path("out/trec/rfc/fused/test.run").read_text()
    assert "#" in local.split()[0]
    whole = Path("out/trec/rfc/global_fused/test.run").read_text()
    assert "#" not in whole.split()[0]
    assert max(int(line.split()[3]) for line in whole.splitlines()) == 20
    assert [r["step"] for r in _cost("fused")] == ["rerank", "rerank"]
    rows = read_rows(Path("rows"))
    experiment = Experiment.of(rows, rfc_corpus, Layout(Path("out")), Tuned(), Path())
    costs = {row.name: cost_with_inputs(experiment, row.name) for row in rows}
    alone = sum(r["seconds"] for r in _cost("fused") if "seconds" in r)
    both = costs["bm25"].seconds + costs["citing"].seconds
    assert costs["fused"].seconds == pytest.approx(alone + both)
    Path("out/cost/rfc/bm25.jsonl").unlink()
    assert cost_with_inputs(experiment, "fused") is None


@pytest.mark.fairseq
@pytest.mark.slow
def test_rows_of_our_model_are_made_from_a_store_alone(rfc_corpus, place, caplog, capfd):
    caplog.set_level("INFO", "mpbert")
    small = {
        **{"dim": 16, "ffn_dim": 32, "num_heads": 2, "max_update": 3, "max_epoch": 1},
        **{"batch_tokens": 30000, "warmup_updates": 1},
    }
    for stage, config in (("pretrain", "tiny"), ("finetune", "tiny"), ("finetune", "token_bag")):
        source = ROOT / stage / "configs" / f"{config}.yaml"
        target = place / stage / "configs" / f"{config}.yaml"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    bag = {**OURS, "config": "token_bag", "settings": small, "vocab_size_on": {"rfc": 400}}
    first = {"title": "N", "method": "mp_bert4cr", "vectors": "bag", "dim": 8, "order": 5}
    _write(place, bag=bag, nested=first)
    _run(rfc_corpus, "nested", configs=place)
    steps = ["binarize", "finetune", "embed", "retrieve"]
    assert [r["step"] for r in _cost("bag") if "exit_code" in r] == steps
    assert (place / "out/encoders/rfc/bag/model.safetensors").exists()
    one, two = (Path(f"out/trec/rfc/{name}/test.run").read_text() for name in ("bag", "nested"))
    assert one != two
    caplog.clear()
    _run(rfc_corpus, "nested", configs=place)
    assert caplog.messages[1:] == ["[1/2] bag: finished", "[2/2] nested: finished"]
