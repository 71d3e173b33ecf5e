"""Recipes say what they read and write; fairseq reads their configurations."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("pretrain", "finetune", "datasets", "eval")
RECIPES = sorted(str(p.relative_to(ROOT)) for f in FOLDERS for p in (ROOT / f).rglob("*.sh"))
SCRIPTS = [*RECIPES, "setup.sh", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("tests/*.sh"))]
PAPERS = "--claims eval/claims.yaml --paper-tables eval/paper_tables.yaml"
CONFIGS = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("*/configs/*.yaml"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_bash_reads_the_script(script):
    found = subprocess.run(["bash", "-n", script], capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 0, found.stderr


def test_shellcheck_finds_nothing():
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    shellcheck = shutil.which("shellcheck", path=path)
    if shellcheck is None:
        pytest.skip("shellcheck is not installed; see requirements.txt")
    found = subprocess.run([shellcheck, "-x", *SCRIPTS], capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_says_how_it_is_used_and_what_it_reads_and_writes(recipe):
    lines = (ROOT / recipe).read_text().splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    header = "\n".join(line for line in lines[1:15] if line.startswith("#"))
    for word in ("usage:", "reads:", "writes:"):
        assert word in header, f"{recipe} has no {word} line"
    assert "set -euo pipefail" in lines
    assert len(lines) <= 40
    assert os.access(ROOT / recipe, os.X_OK)


@pytest.mark.parametrize("recipe", [r for r in RECIPES if "corpus=${1:?" in (ROOT / r).read_text()])
def test_a_recipe_without_its_corpus_says_so(recipe):
    environment = {**os.environ, "MPBERT_PYTHON": sys.executable}
    found = subprocess.run(
        ["bash", recipe], capture_output=True, text=True, cwd=ROOT, env=environment
    )
    assert found.returncode != 0
    assert "CORPUS is missing; see the usage line" in found.stderr


def test_benchmarks_make_one_table_and_a_failed_one_is_named(tmp_path):
    for name in ("setup.sh", "eval/benchmarks.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    benchmarks = tmp_path / "tests" / "benchmarks"
    benchmarks.mkdir(parents=True)
    (benchmarks / "bench_a.py").write_text("print('text'); print('| a | b | >= 1 | 2.00 |')")
    (benchmarks / "bench_b.py").write_text("print('first'); print('0.5 times the other')")
    (benchmarks / "bench_c.py").write_text("raise SystemExit(1)")
    environment = {**os.environ, "MPBERT_PYTHON": sys.executable}
    command = ["bash", str(tmp_path / "eval" / "benchmarks.sh")]
    found = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert found.returncode == 3, found.stderr
    table = (tmp_path / "runs" / "benchmarks" / "table.md").read_text()
    assert found.stdout == table
    assert re.match(
        r"## Benchmarks .*\n\n\| what ", table
    )  # what docs/benchmarks.md is filled from
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert rows[0] == "| a | b | >= 1 | 2.00 |"
    assert "0.5 times the other" in rows[1] and "| c | failed |" in rows[2]
    assert len(rows) == 3


@pytest.mark.parametrize("stage", ["pretrain", "finetune"])
def test_an_unknown_configuration_is_named(stage):
    environment = {**os.environ, "MPBERT_PYTHON": sys.executable}
    found = subprocess.run(
        ["bash", f"{stage}/train.sh", "no-corpus", "no-config"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
    )
    assert found.returncode == 2
    assert f"{stage}/configs/no-config.yaml: no such configuration" in found.stderr
    assert found.stderr.endswith("paper, small, tiny\n" if stage == "pretrain" else "token_bag\n")


@pytest.mark.parametrize(
    ("stage", "words", "expected"),
    [
        (
            "pretrain",
            ["c", "tiny", "max_update=3"],
            "pretrain runs/binarized/c pretrain/configs/tiny.yaml runs/encoders/c/tiny-pretrained "
            "--training runs/pretrained/c/tiny --settings max_update=3",
        ),
        (
            "finetune",
            ["c"],
            "finetune runs/binarized/c finetune/configs/token_bag.yaml runs/encoders/c/token_bag "
            "--training runs/finetuned/c/token_bag --settings",
        ),
        (
            "finetune",
            ["c", "tiny", "x", "objective=mpt-tgt", "seed=2"],
            "finetune runs/binarized/c finetune/configs/tiny.yaml runs/encoders/c/x "
            "--training runs/finetuned/c/x --init runs/encoders/c/tiny-pretrained "
            "--settings objective=mpt-tgt seed=2",
        ),
    ],
)
def test_a_recipe_of_training_is_one_command(tmp_path, stage, words, expected):
    shutil.copytree(ROOT / stage, tmp_path / stage)
    shutil.copy(ROOT / "setup.sh", tmp_path)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n')
    python.chmod(0o755)
    subprocess.run(
        ["bash", f"{stage}/train.sh", *words],
        cwd=tmp_path,
        env={**os.environ, "MPBERT_PYTHON": str(python)},
        check=True,
    )
    assert (tmp_path / "calls").read_text().splitlines() == [f"-m mpbert {expected}"]


@pytest.fixture
def called(tmp_path):
    """Function that runs a recipe with a Python that does nothing: its exit code, and all calls."""
    for folder in ("eval", "finetune", "pretrain", "datasets/rfc"):
        ignored = shutil.ignore_patterns("*.tar.xz", "results")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(ROOT / "setup.sh", tmp_path)
    python = tmp_path / "python"
    calls = tmp_path / "calls"
    python.write_text(f'#!/bin/sh\necho "$*" >>{calls}\nexit ${{CODE:-0}}\n')
    python.chmod(0o755)

    def run(*words, code=0):
        environment = {**os.environ, "MPBERT_PYTHON": str(python), "CODE": str(code)}
        found = subprocess.run(["bash", *words], cwd=tmp_path, env=environment)
        lines = calls.read_text().splitlines()
        return found.returncode, [line.removeprefix("-m mpbert ") for line in lines]

    return run


def test_all_rows_are_made_and_reported_and_failed_ones_are_told(called):
    rows = "make-rows runs/corpus/mine eval/rows runs --tuned eval/tuned --only token_bag"
    report = "report runs/corpus/mine eval/rows runs runs/report/mine --tuned eval/tuned"
    code, calls = called("eval/all.sh", "mine", "--only", "token_bag")
    assert code == 0
    assert calls == [rows, f"{report} --split test --task local {PAPERS} --replace"]


def test_a_report_of_another_split_or_task_has_a_place_of_its_own(called):
    _, calls = called("eval/report.sh", "rfc", "valid", "global", "--expected", "x.json")
    assert calls == [
        "report runs/corpus/rfc eval/rows runs runs/report/rfc-global-valid --tuned eval/tuned "
        "--split valid --task global --replace --expected x.json"
    ]


def test_published_reports_become_results_files_and_fill_the_pages(called, tmp_path):
    for folder, names in (
        ("runs/report/rfc", ("report.md", "cost.json", "recall.png")),
        ("runs/report/rfc-global", ("report.md",)),
        ("runs/benchmarks", ("table.md",)),
    ):
        (tmp_path / folder).mkdir(parents=True)
        for name in names:
            (tmp_path / folder / name).write_text(f"{folder}/{name}")
        report = {"of": folder, "curves": {}, "self_citation": {}}
        (tmp_path / folder / "report.json").write_text(json.dumps(report))
    (tmp_path / "docs/results/reports").mkdir(parents=True)
    for page in ("README.md", "docs/results/index.md"):
        (tmp_path / page).write_text("")
    code, calls = called("eval/publish.sh", "rfc", "rfc-global", "benchmarks")
    assert code == 0
    assert calls == ["fill-tables README.md docs/benchmarks.md docs/results/index.md"]
    found = {p.name: p.read_text() for p in (tmp_path / "docs/results/reports").iterdir()}
    assert found == {
        "rfc.json": '{\n "of": "runs/report/rfc"\n}\n',
        "rfc.cost.json": "runs/report/rfc/cost.json",
        "rfc-global.json": '{\n "of": "runs/report/rfc-global"\n}\n',
        "benchmarks.md": "runs/benchmarks/table.md",
    }


def test_ablations_and_tuning_have_their_rows_and_files(called):
    _, calls = called("eval/ablations.sh", "rfc", "--only", "bag_no_body")
    assert calls[0].startswith("make-rows runs/corpus/rfc eval/ablations.yaml runs --configs .")
    assert calls[1].endswith(
        "runs runs/report/rfc-ablations --configs . --claims eval/ablation_claims.yaml --replace"
    )
    _, calls = called("eval/tune.sh", "rfc", "--cpu-hours", "1")
    assert calls[2] == "tune runs/corpus/rfc eval/rows runs eval/tuned/rfc.yaml --cpu-hours 1"


def test_rows_that_recipes_name_are_rows_of_this_repository():
    names = {path.stem for path in (ROOT / "eval" / "rows").glob("*.yaml")}
    text = (ROOT / "eval" / "quickstart.sh").read_text()
    named = re.findall(r"^rows ([a-z_0-9 ]+)$", text, re.MULTILINE)
    assert len(named) == 2 and set(" ".join(named).split()) <= names


def test_the_quickstart_keeps_lines_in_its_log_and_shows_why_it_ended(called, tmp_path, capfd):
    shutil.copy(ROOT / "datasets" / "rfc" / "example.txt", tmp_path / "datasets" / "rfc")
    python, left = tmp_path / "python", "1 of 2, 0:00:09 left"
    said = python.read_text().replace(
        "exit", f"echo 'a detail'; echo '{left}'; echo '{left}'\nexit"
    )
    code = "$(case $* in *binarize*) echo 4;; *) echo 0; esac)"
    python.write_text(said.replace("${CODE:-0}", code))
    code, calls = called("eval/quickstart.sh")
    shown = capfd.readouterr().err.splitlines()
    assert code == 4 and calls[-1].startswith("binarize")
    log = (tmp_path / "runs" / "quickstart.log").read_text().splitlines()
    assert (log.count("a detail"), log.count(left)) == (4, 8)
    # once for each command, and the last lines of the one that failed
    assert (shown.count("a detail"), shown.count(left)) == (1, 4 + 2)


def test_each_stage_has_the_configurations_of_the_paper_and_ours():
    names = ("hierarchical", "medium", "paper", "small", "tiny")
    wanted = {f"{stage}/configs/{n}.yaml" for stage in ("finetune", "pretrain") for n in names}
    ours = {"finetune/configs/token_bag.yaml", "finetune/configs/levels.yaml"}
    assert set(CONFIGS) == {*wanted, *ours, "pretrain/configs/documents.yaml"}


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # fairseq's, of hydra


@pytest.fixture(scope="module")
def parse():
    """Read flags as fairseq-train does, and build task options and model sizes from them."""
    import mpbert.model.fairseq_plugin.compat as launcher  # isort: skip
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    launcher.register()

    def read(flags):
        words = ["data", *flags]
        with pytest.MonkeyPatch.context() as patch:  # get_training_parser looks at it, too
            patch.setattr(sys, "argv", ["train", *words])
            parser = options.get_training_parser()
            arguments = options.parse_args_and_arch(parser, words)
        return convert_namespace_to_omegaconf(arguments)

    return read


@pytest.mark.fairseq
@pytest.mark.parametrize("config", CONFIGS)
def test_fairseq_takes_over_the_whole_configuration(parse, config):
    """From YAML to fairseq's flags and back: nothing is lost on the way."""
    from omegaconf import OmegaConf

    from mpbert.model.configuration import read_configuration, resolved_settings
    from mpbert.model.fairseq_plugin.flags import configuration_of, flags_of

    stage = config.split("/")[0]
    made = read_configuration(ROOT / config, stage)
    found = OmegaConf.to_container(parse(flags_of(made, stage)), enum_to_str=True)
    again = configuration_of(found, stage, dataclasses.asdict(made.model), 50)
    assert resolved_settings(again, stage) == resolved_settings(made, stage)
    assert found["common"]["seed"] == found["task"]["seed"] == 1
    assert found["checkpoint"]["keep_interval_updates"] == 1
    assert found["checkpoint"]["no_epoch_checkpoints"]


@pytest.mark.parametrize("size", ["hierarchical", "paper", "small", "tiny"])
def test_fine_tuning_has_the_sizes_of_the_encoder_that_it_starts_from(size):
    from mpbert.model.config import LEVEL_SIZES
    from mpbert.model.configuration import read_configuration

    sizes = [
        read_configuration(ROOT / stage / "configs" / f"{size}.yaml", stage).model
        for stage in ("pretrain", "finetune")
    ]
    for name in (*("dim", *LEVEL_SIZES), "dropout"):
        assert getattr(sizes[0], name) == getattr(sizes[1], name), name


def test_the_papers_configuration_has_the_papers_numbers():
    """Zhang & Ma (WI-IAT 2021), Table 2 and Sec. 4.1.1."""
    from mpbert.model.configuration import read_configuration

    pretraining, finetuning = (
        read_configuration(ROOT / stage / "configs" / "paper.yaml", stage)
        for stage in ("pretrain", "finetune")
    )
    for model in (pretraining.model, finetuning.model):
        assert (model.dim, model.num_heads) == (768, 12)
        assert {model.sentence_layers, model.document_layers, model.decoder_layers} == {6}
    first, second = pretraining.training, finetuning.training
    assert (first.lr, second.lr) == (1e-4, 2e-5)
    assert (first.warmup_init_lr, second.warmup_init_lr) == (1e-7, 1e-9)
    assert (first.adam_beta2, second.adam_beta2) == (0.999, 0.98)
    assert (first.max_epoch, second.max_epoch) == (50, 5)
    for training in (first, second):
        assert training.warmup_updates == 1000
        assert training.weight_decay == 0.01
    reading, noise = finetuning.reading, finetuning.noise
    assert reading.manuscript_sentences == 30
    assert (reading.abstract_sentences, reading.body_sentences) == (10, 30)
    assert (noise.positives, noise.negatives) == (3, 4)
    assert (noise.positive_power, noise.negative_power) == (0.75, 0.75)


@pytest.fixture
def made_rows(tmp_path):
    """Options of a row of words, a trained row and its index, as their outputs hold them."""
    given = {
        "encoders/mine/bag": "data: runs/binarized/mine\nconfiguration: bag.yaml\n"
        "training: runs/finetuned/mine/bag\nsettings:\n- seed=1\n",
        "trec/mine/words": "lexical: bm25\nvectors: null\nsplits:\n- valid\n- test\n",
        "trec/mine/bag": "vectors: runs/vectors/mine/bag\ntop: 50\n",
        "vectors/mine/bag": "data: runs/binarized/mine\nencoder: runs/encoders/mine/bag\n",
        "trec/mine/index": "index: runs/indexes/mine/index\n",
        "indexes/mine/index": "encoder: runs/encoders/mine/bag\nvectors: runs/vectors/mine/bag\n",
    }
    for place, config in given.items():
        (tmp_path / "runs" / place).mkdir(parents=True)
        (tmp_path / "runs" / place / "config.yaml").write_text(f"output: x\n{config}")


def test_rows_are_asked_again_with_what_was_known(called, made_rows, tmp_path):
    code, calls = called("eval/known.sh", "mine", "words", "bag", "index")
    assert code == 0
    new = "runs/known"
    runs = [
        f"{new}/trec/mine/{row} --config {new}/trec/mine/{row}.yaml" for row in ("words", "bag")
    ]
    embed = (
        f"embed runs/binarized/mine runs/encoders/mine/bag {new}/vectors/mine/bag "
        f"--config {new}/vectors/mine/bag.yaml --known train valid --splits test"
    )
    assert [call for call in calls if not call.startswith("evaluate")] == [
        f"retrieve runs/corpus/mine {runs[0]} --known train valid --splits test",
        embed,
        f"retrieve runs/corpus/mine {runs[1]} --vectors {new}/vectors/mine/bag --splits test",
        embed,
        f"build-index runs/corpus/mine runs/encoders/mine/bag runs/vectors/mine/bag "
        f"{new}/indexes/mine/index --config {new}/indexes/mine/index.yaml "
        f"--known train valid --known-vectors {new}/vectors/mine/bag",
        f"answer runs/corpus/mine {new}/indexes/mine/index {new}/trec/mine/index "
        f"--config {new}/trec/mine/index.yaml --splits test",
    ]
    words = (tmp_path / new / "trec/mine/words.yaml").read_text()
    assert words == "lexical: bm25\nsplits:\n- valid\n- test\n"
    measured = f"{new}/trec/mine/words/test.run --measures Recall@10 MAP@10"
    assert calls[1] == f"evaluate runs/corpus/mine/qrels.test.txt {measured}"


def test_encoders_learn_again_with_what_was_known(called, made_rows, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAIN", "yes")
    code, calls = called("eval/known.sh", "mine", "bag", "index")
    assert code == 0
    new, encoder = "runs/later", "runs/later/encoders/mine/bag"
    trained = [
        f"finetune runs/binarized/mine bag.yaml {encoder} --config {encoder}.yaml "
        f"--known train valid",
        f"embed runs/binarized/mine {encoder} {new}/vectors/mine/bag "
        f"--config {new}/vectors/mine/bag.yaml --known train valid --splits test",
    ]
    assert [call for call in calls if not call.startswith("evaluate")] == [
        *trained,
        f"retrieve runs/corpus/mine {new}/trec/mine/bag --config {new}/trec/mine/bag.yaml "
        f"--vectors {new}/vectors/mine/bag --splits test",
        *trained,
        f"build-index runs/corpus/mine runs/encoders/mine/bag runs/vectors/mine/bag "
        f"{new}/indexes/mine/index --config {new}/indexes/mine/index.yaml "
        f"--known train valid --known-vectors {new}/vectors/mine/bag --known-encoder {encoder}",
        f"answer runs/corpus/mine {new}/indexes/mine/index {new}/trec/mine/index "
        f"--config {new}/trec/mine/index.yaml --splits test",
    ]
    assert (tmp_path / f"{encoder}.yaml").read_text() == "settings:\n- seed=1\n"
