import itertools
import json
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
from mpbert.commands.make_rows import cost_with_inputs
from mpbert.experiments.rows import (
    choose_rows,
    effective_settings,
    read_rows,
)
from mpbert.experiments.steps import step_environment
from mpbert.experiments.tuning import read_tuned
from mpbert.foundation.errors import ConfigError, RowsFailedError
from mpbert.foundation.manifest import claimed

CHANCE = {"title": "Chance", "method": "chance", "settings": {"dim": 8}, "order": 1}
SLOW = {"title": "Slow", "recipe": "slow.sh {corpus}", "run": "runs/trec/{corpus}/slow", "order": 2}
BM25 = {"title": "BM25", "method": "bm25", "settings": {"fields": "abstract"}, "order": 3}
CONDITIONS = read_rows(Path(__file__).parents[2] / "eval" / "rows")
SLOW_SCRIPT = """
echo $$ > pid
[ -e go ] || sleep 100
mkdir -p runs/trec/$1/slow
echo '{}' > runs/trec/$1/slow/manifest.json
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(place, **conditions):
    (place / "conditions").mkdir(exist_ok=True)
    for name, content in conditions.items():
        (place / "conditions" / f"{name}.yaml").write_text(yaml.safe_dump(content))


def _run(corpus, *only):
    make_rows.run(make_rows.Config(corpus, Path("conditions"), only))


def _cost(name):
    return [json.loads(line) for line in Path(f"runs/cost/rfc/{name}.jsonl").open()]


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
    (place / "slow.sh").write_text(SLOW_SCRIPT)
    command = ["make-rows", str(rfc_corpus), "--rows", "conditions"]
    process = subprocess.Popen(
        [sys.executable, "-m", "mpbert", *command], env=step_environment(), cwd=place
    )
    _wait_for(lambda: (place / "pid").exists() and (place / "pid").read_text())
    process.send_signal(signal.SIGKILL)
    process.wait()
    child = int((place / "pid").read_text())
    _wait_for(lambda: not _is_alive(child))
    assert not Path("runs/trec/rfc/slow").exists()
    made = Path("runs/trec/rfc/chance/manifest.json").stat().st_mtime_ns
    assert [record["step"] for record in _cost("chance")] == ["fit"] * 2 + ["retrieve"] * 2

    (place / "go").touch()
    caplog.set_level("INFO")
    _run(rfc_corpus)
    assert Path("runs/trec/rfc/chance/manifest.json").stat().st_mtime_ns == made
    exit_codes = [record.get("exit_code") for record in _cost("slow")]
    assert exit_codes == [None, -signal.SIGTERM, None, 0]
    assert Path("runs/trec/rfc/bm25/test.run").exists()
    ended = _cost("bm25")[-1]
    assert (ended["step"], ended["exit_code"]) == ("retrieve", 0)
    assert ended["seconds"] > 0 and ended["cpu_seconds"] > 0
    assert ended["peak_mib"] > 20 and ended["cores"] >= 1

    shown = caplog.messages
    for line in (
        "[1/3] chance: finished",
        "[2/3] slow: slow.sh rfc ...",
        "[3/3] bm25: retrieve ...",
    ):
        assert line in shown
    caplog.clear()
    _run(rfc_corpus)
    assert caplog.messages == [
        "[1/3] chance: finished",
        "[2/3] slow: finished",
        "[3/3] bm25: finished",
    ]

    caplog.clear()
    _write(
        place, chance={**CHANCE, "settings": {"dim": 9}}, slow={**SLOW, "recipe": "slow.sh rfc 1"}
    )
    command = ["make-rows", str(rfc_corpus), "--rows", "conditions"]
    assert main(command) == 3
    both = "runs/vectors/rfc/chance and runs/trec/rfc/chance"
    assert caplog.messages == [
        f"[1/3] chance: failed, {both}: made with other settings or inputs than these (see "
        "config.yaml there); remove what is named, and run this again",
        "[2/3] slow: failed, runs/trec/rfc/slow: made by other command lines (see "
        "runs/cost/rfc/slow.jsonl); remove what is named, and run this again",
        "[3/3] bm25: finished",
    ]
    assert "2 of 3 rows failed: chance, slow; see above" in capfd.readouterr().err
    for output in both.split(" and "):
        shutil.rmtree(output)
    _run(rfc_corpus, "chance")


def test_rows_whose_recipes_take_flags_are_made_with_each_seed(rfc_corpus, place, caplog):
    caplog.set_level("INFO")
    seeded = {
        "title": "Seeded",
        "recipe": "seeded.sh runs/trec/{corpus}/seeded{variant} {flags}",
        "run": "runs/trec/{corpus}/seeded{variant}",
        "order": 1,
    }
    _write(place, seeded=seeded, bm25=BM25)
    script = 'mkdir -p "$1" && echo "{}" >"$1/manifest.json" && echo "${*:2}" >"$1/flags"\n'
    (place / "seeded.sh").write_text(script)
    config = make_rows.Config(rfc_corpus, Path("conditions"), seeds=3)
    make_rows.run(config)
    runs = Path("runs/trec/rfc")
    assert {path.name: (path / "flags").read_text().strip() for path in runs.glob("seeded*")} == {
        "seeded": "",
        "seeded-seed-2": "--seed 2",
        "seeded-seed-3": "--seed 3",
    }
    caplog.clear()
    make_rows.run(config)
    assert caplog.messages == [
        "[1/4] seeded: finished",
        "[2/4] bm25: finished",
        "[3/4] seeded, seed 2: finished",
        "[4/4] seeded, seed 3: finished",
    ]
    with pytest.raises(ConfigError, match="--seeds 0; expected 1 or more"):
        make_rows.Config(rfc_corpus, seeds=0)


def test_a_recipe_is_made_anew_for_another_corpus_of_the_same_name(rfc_corpus, place, caplog):
    caplog.set_level("INFO")
    _write(place, slow=SLOW)
    Path("runs/trec/rfc/slow").mkdir(parents=True)
    Path("runs/trec/rfc/slow/manifest.json").write_text('{"inputs": {"rfc": "123"}}')
    with pytest.raises(RowsFailedError):
        _run(rfc_corpus)
    assert "runs/trec/rfc/slow: made from another corpus of this name" in caplog.messages[0]


def test_a_row_is_made_by_one_process_at_a_time(rfc_corpus, place, caplog):
    caplog.set_level("INFO")
    _write(place, chance=CHANCE)
    with claimed(Path("runs/cost/rfc/chance.jsonl")), pytest.raises(RowsFailedError):
        _run(rfc_corpus)
    assert "another process is writing it; wait until it ends, or end it" in caplog.messages[0]
    assert not Path("runs/vectors").exists()


def test_a_row_that_fails_is_named_and_leaves_the_rest_alone(rfc_corpus, place, caplog, capfd):
    bad = {"title": "Bad", "recipe": "bad.sh", "run": "runs/bad", "order": 1, "optional": True}
    good = {"title": "Good", "recipe": ["good.sh"], "run": "runs/good"}
    lazy = {**good, "run": "runs/lazy", "optional": True}
    (place / "bad.sh").write_text("echo 'no such model' >&2; exit 3")
    (place / "good.sh").write_text("mkdir -p runs/good; echo {} > runs/good/manifest.json")
    _write(place, bad=bad, good=good, lazy=lazy)
    caplog.set_level("INFO")
    _run(rfc_corpus)
    assert "[1/3] bad: failed, bad.sh ended with 3: no such model" in caplog.messages
    assert caplog.messages[-1] == ("2 of 3 rows failed: bad (optional), lazy (optional); see above")
    assert "the recipe ended well, but runs/lazy is no finished output" in caplog.messages[-2]
    assert _cost("bad")[-1]["exit_code"] == 3
    _write(place, bad={**bad, "optional": False})
    with pytest.raises(
        RowsFailedError, match="1 of 2 rows failed: bad; see above, and run this again"
    ):
        _run(rfc_corpus, "bad", "good")


def test_a_row_that_needs_a_gpu_is_left_out_without_one_unless_it_is_named(
    rfc_corpus, place, caplog, monkeypatch, capfd
):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    _write(place, deep={"title": "Deep", "recipe": "x.sh", "run": "runs/deep", "gpu": True})
    (place / "x.sh").write_text("mkdir -p runs/deep; echo {} > runs/deep/manifest.json")
    caplog.set_level("INFO")
    _run(rfc_corpus)
    assert caplog.messages == ["[1/1] deep: left out, no GPU; --only deep makes it anyway"]
    _run(rfc_corpus, "deep")
    assert Path("runs/deep").exists()


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.name)
def test_methods_settings_and_spaces_of_this_repository_exist(condition):
    for values in itertools.product(*condition.space.values()):
        chosen = dict(zip(condition.space, values, strict=True))
        make_rows.identity_of(condition, effective_settings(condition, chosen))


def test_settings_chosen_by_tuning_go_over_those_of_the_row(rfc_corpus, place, monkeypatch):
    _write(place, chance=CHANCE)
    budget = {"trials": 2, "minutes": 1, "measure": "MAP@10", "split": "valid", "queries": 9}
    row = {"settings": {"dim": 4}, "score": 0.2, "default": 0.1, "trials": 2, "seconds": 3.0}
    Path("eval/tuned").mkdir(parents=True)
    Path("eval/tuned/rfc.yaml").write_text(
        yaml.safe_dump({"budget": budget, "rows": {"chance": row}})
    )
    asked = []
    monkeypatch.setattr(
        make_rows, "execute", lambda step, log, run: asked.append(step.words) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        _run(rfc_corpus)
    assert asked[0][-2:] == ("--settings", "dim=4")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "chanze"}, "condition chance: unknown method 'chanze'; expected one of chance"),
        ({"settings": {"dims": 8}}, "condition chance: --settings dims=8: chance has no setting"),
        ({"settings": {"dim": 0.5}}, "condition chance: --settings dim=0.5: found '0.5'; expected"),
        (
            {"method": "bm25", "settings": {}, "similarity": "dot"},
            "condition chance: bm25 has no similarity; leave it out",
        ),
        ({"method": "fusion", "settings": {}}, "fusion needs inputs"),
    ],
)
def test_a_wrong_condition_is_refused_before_anything_is_begun(rfc_corpus, place, change, message):
    _write(place, chance={**CHANCE, **change})
    with pytest.raises(ConfigError) as error:
        _run(rfc_corpus)
    assert message in str(error.value)
    assert not (place / "runs").exists()


def test_a_row_of_a_reranker_takes_the_runs_of_rows_before_it(rfc_corpus, place, capfd):
    citing = {**BM25, "title": "Citing", "settings": {"fields": "citing"}, "order": 4}
    fused = {"title": "Fused", "method": "fusion", "inputs": ["bm25", "citing"], "order": 5}
    _write(place, bm25=BM25, citing=citing, fused=fused)
    for name in ("bm25", "citing", "fused"):
        content = yaml.safe_load((place / "conditions" / f"{name}.yaml").read_text())
        content |= {"task": "global", "top": 20, "order": content["order"] + 10}
        content["inputs"] = [f"global_{i}" for i in content.get("inputs", [])]
        _write(place, **{f"global_{name}": content})
    _run(rfc_corpus)
    local = Path("runs/trec/rfc/fused/test.run").read_text()
    assert "#" in local.split()[0]
    whole = Path("runs/trec/rfc/global_fused/test.run").read_text()
    assert "#" not in whole.split()[0]
    assert max(int(line.split()[3]) for line in whole.splitlines()) == 20
    assert [r["step"] for r in _cost("fused")] == ["rerank", "rerank"]
    rows = choose_rows(read_rows(Path("conditions")), "rfc", [])
    costs = {row.name: cost_with_inputs(row.name, rows, "rfc", read_tuned(None)) for row in rows}
    alone = sum(r["seconds"] for r in _cost("fused") if "seconds" in r)
    both = costs["bm25"].seconds + costs["citing"].seconds
    assert costs["fused"].seconds == pytest.approx(alone + both)
    Path("runs/cost/rfc/bm25.jsonl").unlink()
    assert cost_with_inputs("fused", rows, "rfc", read_tuned(None)) is None


def test_a_row_stands_after_those_it_takes_runs_of(rfc_corpus, place):
    fused = {"title": "Fused", "method": "fusion", "inputs": ["bm25", "chance"], "order": 2}
    _write(place, bm25=BM25, chance=CHANCE, fused=fused)
    with pytest.raises(ConfigError, match=r"fused.yaml: takes something of 'bm25'; expected a row"):
        _run(rfc_corpus)
