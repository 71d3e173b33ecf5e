"""Recipes say what they read and write; fairseq reads their configurations."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("pretrain", "finetune", "datasets", "eval")
RECIPES = sorted(str(p.relative_to(ROOT)) for f in FOLDERS for p in (ROOT / f).rglob("*.sh"))
SCRIPTS = [*RECIPES, "setup.sh", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("tests/*.sh"))]
LIGHT = "finetune/configs/light.flags"
CONFIGS = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("*/configs/*.flags"))


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
    assert f"no such configuration: {stage}/configs/no-config.flags" in found.stderr


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
    assert calls == [rows, f"{report} --split test --task local --replace"]


def test_a_report_of_another_split_or_task_has_a_place_of_its_own(called):
    _, calls = called("eval/report.sh", "rfc", "valid", "global", "--expected")
    assert calls == [
        "report runs/corpus/rfc eval/rows runs runs/report/rfc-global-valid --tuned eval/tuned "
        "--split valid --task global --replace --expected"
    ]


def test_ablations_and_tuning_have_their_rows_and_files(called):
    _, calls = called("eval/ablations.sh", "rfc", "--only", "bag_warm")
    assert calls[0].startswith("make-rows runs/corpus/rfc eval/ablations.yaml runs --configs .")
    assert calls[1].endswith("runs runs/report/rfc-ablations --configs . --replace")
    _, calls = called("eval/tune.sh", "rfc", "--trials", "2")
    assert calls[2] == "tune runs/corpus/rfc eval/rows runs eval/tuned/rfc.yaml --trials 2"


def test_rows_that_recipes_name_are_rows_of_this_repository():
    names = {path.stem for path in (ROOT / "eval" / "rows").glob("*.yaml")}
    text = (ROOT / "eval" / "quickstart.sh").read_text()
    named = [line.split()[1:] for line in text.splitlines() if line.startswith("rows ")]
    assert len(named) == 2 and {*named[0], *named[1]} <= names


def test_a_flag_that_is_not_there_cannot_be_taken_away():
    words = ["finetune/train.sh", "no-corpus", "light", "x", "without=--dropout"]
    environment = {**os.environ, "MPBERT_PYTHON": sys.executable}
    found = subprocess.run(
        ["bash", *words], capture_output=True, text=True, cwd=ROOT, env=environment
    )
    assert found.returncode == 2
    assert found.stderr.endswith(f"{LIGHT} has no line --dropout\n")


def test_each_stage_has_the_three_configurations():
    names = [f"{stage}/configs/{n}.flags" for stage in ("finetune", "pretrain") for n in NAMES]
    assert set(names) <= set(CONFIGS)


NAMES = ("paper", "small", "tiny")
TRAINING = {
    "pretrain": ("mpbert_pretrain", "mpbert_hibert", "mpbert_masked_sentences"),
    "finetune": ("mpbert_finetune", "mpbert_two_tower", "mpbert_multi_positive"),
}


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # fairseq's, of hydra


@pytest.fixture(scope="module")
def parse():
    """Read flags as fairseq-train does, and build task options and model sizes from them."""
    import mpbert.model.fairseq_plugin.compat  # noqa: F401  # isort: skip
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    def read(stage, flags):
        task, arch, criterion = TRAINING[stage]
        words = ["data", f"--user-dir={ROOT / 'pretrain' / 'mpbert_fairseq'}", f"--task={task}"]
        words += [f"--arch={arch}", f"--criterion={criterion}", *flags]
        with pytest.MonkeyPatch.context() as patch:  # get_training_parser looks for --user-dir
            patch.setattr(sys, "argv", ["train", *words])
            parser = options.get_training_parser()
            arguments = options.parse_args_and_arch(parser, words)
        return convert_namespace_to_omegaconf(arguments)

    return read


@pytest.mark.fairseq
@pytest.mark.parametrize("config", CONFIGS)
def test_fairseq_reads_the_configuration(parse, config):
    stage = config.split("/")[0]
    lines = (ROOT / config).read_text().splitlines()
    flags = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert all(flag.startswith("--") for flag in flags)
    names = [flag.split("=")[0] for flag in flags]
    assert len(set(names)) == len(names)
    found = parse(stage, flags)
    assert found.common.seed == found.task.seed == 1
    assert found.dataset.max_tokens
    assert found.checkpoint.keep_interval_updates == 1
    assert found.checkpoint.no_epoch_checkpoints
    if stage == "pretrain":
        from mpbert.model.fairseq_plugin.pretraining.model import hierarchical_config

        assert hierarchical_config(found.model, 30000).dim == found.model.dim
    else:
        from mpbert.model.fairseq_plugin.finetuning.task import sampling_config

        assert sampling_config(found.task).abstract_sentences >= 1


@pytest.mark.fairseq
def test_the_papers_configuration_has_the_papers_numbers(parse):
    """Zhang & Ma (WI-IAT 2021), Table 2 and Sec. 4.1.1."""

    def read(stage):
        lines = (ROOT / stage / "configs" / "paper.flags").read_text().splitlines()
        return parse(stage, [line for line in lines if line.startswith("--")])

    pretraining, finetuning = read("pretrain"), read("finetune")
    model, task = pretraining.model, finetuning.task
    assert (model.dim, model.num_heads) == (768, 12)
    assert {model.sentence_layers, model.document_layers, model.decoder_layers} == {6}
    assert (pretraining.optimization.lr, finetuning.optimization.lr) == ([1e-4], [2e-5])
    assert pretraining.lr_scheduler.warmup_init_lr == 1e-7
    assert finetuning.lr_scheduler.warmup_init_lr == 1e-9
    for found, beta2 in ((pretraining, "0.999"), (finetuning, "0.98")):
        assert found.lr_scheduler.warmup_updates == 1000
        assert found.optimizer.weight_decay == 0.01
        assert found.optimizer.adam_betas == f"(0.9, {beta2})"
    assert (pretraining.optimization.max_epoch, finetuning.optimization.max_epoch) == (50, 5)
    assert (task.manuscript_sentences, task.abstract_sentences, task.body_sentences) == (30, 10, 30)
    assert (task.positives, task.negatives) == (3, 4)
    assert (task.positive_power, task.negative_power) == (0.75, 0.75)
