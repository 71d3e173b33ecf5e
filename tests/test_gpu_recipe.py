"""``eval/gpu.sh``: calls that stop in time and go on, and what they bring home in parts."""

import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECIPES = ("eval/gpu.sh", "eval/borrowed.sh", "eval/bring.sh", "eval/parts.sh")
ROW = "mp_bert4cr_tiny_mpt_src_tgt"
# make-rows does not end before there is a file "ready"; the encoder is of 5000 bytes
PYTHON = """#!/bin/sh
[ -d runs/site ] && case $PYTHONPATH in "$PWD/runs/site"*) site=" SITE" ;; esac
echo "$*$site${HF_HUB_OFFLINE:+ CACHE $XDG_CACHE_HOME}" >>calls
[ "$3" != make-rows ] || echo "$JAX_PLATFORMS" >jax
case "$3" in
  make-rows)
    [ -e failing ] && exit 3
    mkdir -p runs/cost/mine && echo begun >>runs/cost/mine/mp_bert4cr_tiny_mpt_src_tgt.jsonl
    [ -e ready ] || exec sleep 100 ;;
  report) task=${9##*-} && mkdir -p runs/kept && echo "$*" >>"runs/kept/mine-none.jsonl" ;;
  install) mkdir runs/site ;;
  export-encoder) [ -d "$6" ] || { mkdir -p "$6" && head -c 5000 /dev/urandom >"$6/weights"; } ;;
esac
[ "$1" = -m ] || exit ${CODE:-0}
"""


@pytest.fixture
def call(tmp_path):
    """Function that calls a recipe in a checkout of its own: what came of it."""
    for name in ("setup.sh", *RECIPES):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    (tmp_path / "runs/corpus/mine").mkdir(parents=True)

    def run(*words, **variables):
        environment = {**os.environ, "MPBERT_PYTHON": str(python), "PART_BYTES": "1000"}
        for name in ("OUT", "HF_HUB_OFFLINE", "TUNE", "ROWS", "AT_ONCE"):
            environment.pop(name, None)
        return subprocess.run(
            ["bash", *map(str, words)],
            cwd=tmp_path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
        )

    return run


def _calls(place):
    return [line.split()[2] for line in (place / "calls").read_text().splitlines()]


def test_a_call_stops_in_time_and_later_ones_go_on_until_all_is_home(call, tmp_path):
    found = call("eval/gpu.sh", "mine", "tiny", "5")
    assert found.returncode == 0, found.stderr
    assert found.stdout == "runs/gpu: results so far; not finished: call eval/gpu.sh again\n"
    assert "stopped after" in found.stderr
    names = {path.name for path in (tmp_path / "runs/gpu").iterdir()}
    assert names == {f"mine-tiny-results.tar.gz.{part}" for part in ("part-000", "sha256")}
    assert _calls(tmp_path) == ["make-rows", "report", "report"]

    (tmp_path / "ready").touch()
    said = [call("eval/gpu.sh", "mine", "tiny", OUT=f"home/{turn}").stdout for turn in range(3)]
    assert "3 parts; 4 wait: call eval/gpu.sh again" in said[0]
    assert "3 parts; 1 wait: call eval/gpu.sh again" in said[1]
    assert "all is done" in said[2]
    assert _calls(tmp_path)[3:] == ["make-rows", "export-encoder", "report", "report"] * 3

    home = tmp_path / "home" / "all"
    home.mkdir()
    for turn in range(3):  # as one who copies all that came into one folder
        for path in (tmp_path / f"home/{turn}").iterdir():
            assert path.stat().st_size <= 1000
            shutil.copy(path, home)
    weights = tmp_path / "runs/encoders/mine" / f"{ROW}-half" / "weights"
    expected = hashlib.sha256(weights.read_bytes()).digest()
    shutil.rmtree(tmp_path / "runs")
    for name in ("results", "encoder"):
        joined = call("eval/parts.sh", "join", f"home/all/mine-tiny-{name}.tar.gz")
        assert joined.returncode == 0, joined.stderr
    assert hashlib.sha256(weights.read_bytes()).digest() == expected
    assert (
        tmp_path / f"runs/cost/mine/{ROW}.jsonl"
    ).read_text() == "begun\n" * 2  # as it was brought


def test_with_the_size_of_the_paper_rows_of_other_papers_are_made_too(call, tmp_path):
    (tmp_path / "ready").touch()
    (tmp_path / "runs/finetuned/mine/mp_bert4cr_paper_mpt_src_tgt/tensorboard").mkdir(parents=True)
    made = []
    for words, variables in (
        (["mine"], {}),
        (["mine"], {"ROWS": "hatten_paper"}),
        (["mine", "tiny"], {}),
    ):
        (tmp_path / "calls").unlink(missing_ok=True)
        assert call("eval/gpu.sh", *words, **variables).returncode == 0
        [rows] = [line for line in (tmp_path / "calls").read_text().splitlines() if "only" in line]
        made.append(rows.split("--only ")[1].split())
    names = {path.stem for path in (ROOT / "eval/rows").glob("*_paper.yaml")}
    assert len(made[0]) > 3 and set(made[0][1:]) <= names
    assert made[1:] == [["mp_bert4cr_paper_mpt_src_tgt", "hatten_paper"], [ROW]]


def test_rows_without_the_model_come_home_measured_in_each_call(call, tmp_path):
    rows = {"ROWS": "minilm_citing global_minilm_citing", "AT_ONCE": "8"}
    for said in ("not finished: call eval/gpu.sh again", "all is done; at home: eval/parts.sh"):
        found = call("eval/gpu.sh", "mine", "none", "4", **rows)
        assert (found.returncode, said in found.stdout) == (0, True), found.stderr
        with tarfile.open(tmp_path / "runs/gpu/mine-none-results.tar.gz.part-000") as archive:
            assert "runs/kept/mine-none.jsonl" in archive.getnames()
        (tmp_path / "ready").touch()
    [first, *_] = (tmp_path / "calls").read_text().splitlines()[1:]
    assert first.endswith("--at-once 8 --only minilm_citing global_minilm_citing")
    assert "export-encoder" not in _calls(tmp_path)
    assert (tmp_path / "jax").read_text() == "cpu\n"
    (tmp_path / "eval/tuned").mkdir()
    (tmp_path / "eval/tuned/mine.yaml").touch()
    tuned = {"TUNE": "--cpu-hours 0.75 --only hatten"}
    assert call("eval/gpu.sh", "mine", "none", **rows, **tuned).returncode == 0
    assert _calls(tmp_path)[-4:] == ["tune", "make-rows", "report", "report"]
    assert (
        "mine.yaml --at-once 8 --cpu-hours 0.75 --only hatten" in (tmp_path / "calls").read_text()
    )
    with tarfile.open(tmp_path / "runs/gpu/mine-none-results.tar.gz.part-000") as archive:
        assert "eval/tuned/mine.yaml" in archive.getnames()
    found = call("eval/gpu.sh", "mine", "none", ROWS="")
    assert found.returncode == 2 and 'found no rows; expected ROWS="NAME NAME"' in found.stderr


def test_a_row_that_fails_fails_the_call_and_what_it_left_is_brought(call, tmp_path):
    (tmp_path / "failing").touch()
    (tmp_path / "runs/finetuned/mine" / ROW).mkdir(parents=True)
    (tmp_path / "runs/finetuned/mine" / ROW / "train.log").write_text("the loss is nan")
    (tmp_path / "runs/finetuned/mine" / ROW / "checkpoint_last.pt").write_text("large")
    found = call("eval/gpu.sh", "mine", "tiny")
    assert found.returncode == 3
    assert _calls(tmp_path) == ["make-rows", "report", "report"]
    with tarfile.open(tmp_path / "runs/gpu/mine-tiny-results.tar.gz.part-000") as archive:
        assert archive.getnames() == [f"runs/finetuned/mine/{ROW}/train.log"]


def test_without_a_gpu_only_the_rehearsal_runs(call, tmp_path):
    found = call("eval/gpu.sh", "mine", CODE="1")
    assert (found.returncode, len(found.stderr.splitlines())) == (2, 1)
    assert "found no GPU; expected one for configuration paper; without one: " in found.stderr
    assert not (tmp_path / "runs/gpu").exists()


def test_a_corpus_that_is_not_there_is_unpacked_from_its_parts_or_asked_for(call, tmp_path):
    (tmp_path / "ready").touch()
    (tmp_path / "runs/corpus/mine/papers").write_bytes(os.urandom(3000))
    found = call("eval/parts.sh", "split", "runs/sent/mine.tar.gz", "runs/corpus/mine")
    assert found.returncode == 0 and len(list(tmp_path.glob("runs/sent/*part*"))) > 2
    shutil.rmtree(tmp_path / "runs/corpus/mine")
    assert call("eval/gpu.sh", "mine", "tiny").returncode == 0
    assert (tmp_path / "runs/corpus/mine/papers").stat().st_size == 3000
    found = call("eval/gpu.sh", "other", "tiny")
    assert found.returncode == 2
    assert "runs/corpus/other: not there; build it, or bring it in parts" in found.stderr


def test_encoders_that_were_sent_are_found_without_a_network(call, tmp_path):
    (tmp_path / "ready").touch()
    assert call("eval/gpu.sh", "mine", "tiny").returncode == 0
    (tmp_path / "runs/cache/mpbert/encoders").mkdir(parents=True)
    assert call("eval/parts.sh", "split", "runs/sent/cache.tar.gz", "runs/cache").returncode == 0
    shutil.rmtree(tmp_path / "runs/cache")
    for _ in range(2):
        assert call("eval/gpu.sh", "mine", "tiny").returncode == 0
    assert (tmp_path / "runs/cache/mpbert/encoders").is_dir()
    lines = (tmp_path / "calls").read_text().splitlines()
    assert [line.endswith(f"CACHE {tmp_path}/runs/cache") for line in lines] == [False] * 4 + [
        True
    ] * 8


def test_wheels_that_were_sent_are_installed_once_without_a_network(call, tmp_path):
    (tmp_path / "ready").touch()
    (tmp_path / "runs/sent").mkdir()
    (tmp_path / "runs/sent/fairseq.whl").touch()
    for _ in range(2):
        assert call("eval/gpu.sh", "mine", "tiny").returncode == 0
    words = "pip install -q --no-index --no-deps --target runs/site runs/sent/fairseq.whl"
    lines = (tmp_path / "calls").read_text().splitlines()
    assert [line for line in lines if "pip" in line] == [f"-m {words}"]
    assert lines[1].endswith("SITE") and "SITE" not in lines[0]


def test_missing_and_damaged_parts_are_named_and_nothing_is_unpacked(call, tmp_path):
    (tmp_path / "runs/corpus/mine/papers").write_bytes(os.urandom(3000))
    call("eval/parts.sh", "split", "runs/sent/mine.tar.gz", "runs/corpus/mine")
    shutil.rmtree(tmp_path / "runs/corpus")
    first, second = (tmp_path / f"runs/sent/mine.tar.gz.part-00{n}" for n in range(2))
    first.unlink()
    second.write_bytes(b"x" * 1000)
    found = call("eval/parts.sh", "join", "runs/sent/mine.tar.gz")
    assert (found.returncode, len(found.stderr.splitlines())) == (2, 1)
    assert f"damaged parts ({first.name} {second.name})" in found.stderr
    assert not (tmp_path / "runs/corpus").exists()
    found = call("eval/parts.sh", "join", "runs/sent/none.tar.gz")
    assert found.returncode == 2 and "(no none.tar.gz.sha256)" in found.stderr


def test_the_row_of_each_configuration_that_it_may_have_is_there():
    for config in ("paper", "small", "tiny"):
        assert (ROOT / f"eval/rows/mp_bert4cr_{config}_mpt_src_tgt.yaml").exists()
