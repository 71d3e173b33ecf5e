"""``pretrain`` and ``finetune``: from a configuration to an encoder directory, killed or not."""

import fcntl
import logging
import os
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mpbert.cli import main
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import read_manifest
from mpbert.model.config import Configuration, TrainingConfig
from mpbert.model.description import read_description
from mpbert.model.directory import load_two_tower
from mpbert.model.fairseq_plugin import training
from mpbert.model.fairseq_plugin.training import expected_updates

# trainings are forked, but for those that are killed with the program that started them
pytestmark = [pytest.mark.fairseq, pytest.mark.usefixtures("forked_trainings")]
ROOT = Path(__file__).parents[2]
MODEL = "{dim: 16, ffn_dim: 32, num_heads: 2, sentence_layers: 1, document_layers: 1, "
MODEL += "attention_dropout: 0}"
PRETRAIN = f"""
model: {MODEL}
reading: {{block_sentences: 12}}
training: {{batch_tokens: 36000, lr: 0.01, lr_scheduler: fixed, warmup_updates: 0, max_update: 9,
  save_interval_updates: 3, max_valid: 5}}
"""
FINETUNE = f"""
model: {MODEL}
reading: {{manuscript_sentences: 4, abstract_sentences: 1, body_sentences: 1}}
training: {{batch_tokens: 45000, lr: 0.01, lr_scheduler: linear, warmup_updates: 2, max_epoch: 1,
  max_update: 4, save_interval_updates: 3, max_valid: 20}}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("training")
    (path / "pretrain.yaml").write_text(PRETRAIN)
    (path / "finetune.yaml").write_text(FINETUNE)
    return path


@pytest.fixture(scope="module")
def pretrained_here(place, rfc_binary, forked_trainings):
    words = [str(rfc_binary), str(place / "pretrain.yaml"), str(place / "pretrained")]
    assert main(["pretrain", *words, "--settings", "decoder_layers=1"]) == 0
    return place / "pretrained"


def test_pretraining_writes_an_encoder_that_needs_neither_its_folder_nor_its_flags(
    pretrained_here, place, rfc_binary
):
    found = read_description(pretrained_here)
    assert (found.kind, found.model.dim, found.model.decoder_layers) == ("pretrained", 16, 1)
    assert found.reading.block_sentences == 12 and found.reading.sentence_tokens == 12
    assert found.configuration.training.lr_scheduler == "fixed"
    manifest = read_manifest(pretrained_here)
    assert (manifest["command"], manifest["counts"]["updates"]) == ("pretrain", 9)
    training = place / "pretrained.training"
    assert '"train_num_updates": "9"' in (training / "train.log").read_text()
    assert list((training / "tensorboard").rglob("*tfevents*"))
    best = torch.load(training / "checkpoint_best.pt", weights_only=True)["model"]
    state = load_file(pretrained_here / "model.safetensors")
    assert all(torch.equal(value, best[f"model.{name}"]) for name, value in state.items())


def test_a_finished_encoder_is_reused_and_one_of_other_settings_is_refused(
    pretrained_here, place, rfc_binary, capsys
):
    words = [str(rfc_binary), str(place / "pretrain.yaml"), str(pretrained_here)]
    log = (place / "pretrained.training" / "train.log").read_bytes()
    assert main(["pretrain", *words, "--settings", "decoder_layers=1"]) == 0
    assert (place / "pretrained.training" / "train.log").read_bytes() == log
    assert main(["pretrain", *words, "--settings", "decoder_layers=2"]) == 2
    assert "was made with another config" in capsys.readouterr().err


def test_fine_tuning_starts_from_it_and_keeps_its_sizes(pretrained_here, place, rfc_binary):
    words = [str(rfc_binary), str(place / "finetune.yaml"), str(place / "towers")]
    options = ["--init", str(pretrained_here), "--training", str(place / "elsewhere")]
    assert main(["finetune", *words, *options, "--settings", "objective=mpt-tgt"]) == 0
    found = read_description(place / "towers")
    assert (found.kind, found.model.decoder_layers) == ("two-tower", 0)
    assert found.configuration.objective.objective == "mpt-tgt"
    assert load_two_tower(place / "towers").config == found.model
    assert (place / "elsewhere" / "checkpoint_best.pt").exists()
    pretrained_here.rename(place / "moved")  # export has no more need of it
    try:
        checkpoint, output = place / "elsewhere" / "checkpoint_last.pt", place / "again"
        assert main(["export-encoder", str(checkpoint), str(rfc_binary), str(output)]) == 0
    finally:
        (place / "moved").rename(pretrained_here)


def test_a_killed_command_takes_its_training_along_and_goes_on_bit_for_bit(
    pretrained_here, place, rfc_binary, tmp_path
):
    words = [str(rfc_binary), str(place / "pretrain.yaml"), str(tmp_path / "out")]
    command = [sys.executable, "-m", "mpbert", "pretrain", *words, "--settings", "decoder_layers=1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        while process.poll() is None and not list(tmp_path.glob("*/checkpoint_last.pt")):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL and not (tmp_path / "out").exists()
    log = tmp_path / "out.training" / "train.log"
    time.sleep(0.5)
    before = log.read_bytes()
    time.sleep(1.5)
    assert log.read_bytes() == before  # nobody trains on
    again = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert again.returncode == 0
    assert re.search(r"pretrain: goes on after \d+ updates, in epoch \d+", again.stderr)
    found, expected = (p / "model.safetensors" for p in (tmp_path / "out", pretrained_here))
    assert found.read_bytes() == expected.read_bytes()


def test_a_command_ended_by_sigterm_says_that_its_training_goes_on(place, rfc_binary, tmp_path):
    words = [str(rfc_binary), str(place / "pretrain.yaml"), str(tmp_path / "out")]
    command = [sys.executable, "-m", "mpbert", "pretrain", *words, "--settings", "max_update=9999"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, cwd=ROOT, text=True) as process:
        while process.poll() is None and not list(tmp_path.glob("*/checkpoint_last.pt")):
            time.sleep(0.01)
        process.terminate()
        said = process.stderr.read().splitlines()
    assert process.returncode == 143
    assert said[-1].endswith("train.log: the training was stopped; start it again, and it goes on")
    assert not (tmp_path / "out").exists()
    checkpoint = tmp_path / "out.training" / "checkpoint_last.pt"
    saved = torch.load(checkpoint, weights_only=True)["optimizer_history"][-1]["num_updates"]
    log = (tmp_path / "out.training" / "train.log").read_text().splitlines()
    assert f"@ {saved} updates" in log[-1]  # the checkpoint is the last thing that was done


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--settings", "dmi=3"], "no knob 'dmi'; expected one of"),
        (["--settings", "dim=8"], "found dim 16, the configuration has 8; expected the same"),
        (["--settings", "seed=2"], "holds a training with another "),
        (["--init", "/nowhere"], "/nowhere/config.json: not readable as an encoder"),
    ],
)
def test_wrong_input_is_one_line_and_2(
    pretrained_here, place, rfc_binary, tmp_path, capsys, options, message
):
    words = [str(rfc_binary), str(place / "finetune.yaml"), str(tmp_path / "out")]
    start = ["--init", str(pretrained_here), "--training", str(tmp_path / "t")]
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "configuration.yaml").write_text(
        "stage: finetune\ninit: x\ntraining: {seed: 1}"
    )
    assert main(["finetune", *words, *start, *options]) == 2
    error = capsys.readouterr().err.splitlines()
    assert message in error[-1]
    assert sum(line.startswith("mpbert finetune: ") for line in error) == 1


@pytest.mark.parametrize("command", ["pretrain", "finetune"])
def test_fewer_than_one_process_is_refused(command, tmp_path, capsys):
    assert main([command, "data", "none.yaml", str(tmp_path / "out"), "--processes=0"]) == 2
    assert "--processes 0; expected 1 or more" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "now", "goes_on"),
    [(1, 2, True), (2, 2, True), (2, 0, True), (2, 1, False), (0, 2, False), ("x", 2, False)],
)
@pytest.mark.parametrize("limit", ["max_epoch", "max_update"])
def test_a_training_goes_on_for_longer_and_not_for_less(limit, before, now, goes_on):
    noted, found = ({"training": {limit: value, "lr": 0.1}} for value in (before, now))
    told = [] if goes_on else [f"{limit}: {before} there, {now} asked"]
    assert training._different(noted, found) == told


@pytest.mark.parametrize("text", ["stage: [", "training: {max_epoch: 2020-13-40}", "[" * 2000])
def test_a_note_of_a_training_that_was_damaged_is_one_line(tmp_path, text):
    (tmp_path / "configuration.yaml").write_text(text)
    damaged = training.Training("pretrain", tmp_path / "data", Configuration(), tmp_path)
    with pytest.raises(ConfigError, match=r"configuration.yaml: unreadable .*away to train from"):
        damaged.run()


def test_what_fairseq_refuses_is_the_last_line(place, rfc_binary, tmp_path, capsys):
    words = [str(rfc_binary), str(place / "finetune.yaml"), str(tmp_path / "out")]
    nested = ["--settings", "objective=contrastive", "nested_dims=16"]
    assert main(["finetune", *words, *nested]) == 2
    error = capsys.readouterr().err.splitlines()
    assert error[-1].startswith("mpbert finetune: nested_dims 16; expected numbers below 16")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((20, 0.5, 0, 3), 120),  # 40 updates an epoch
        ((20, 0.5, 100, 3), 100),
        ((20, 0.5, 1000, 3), 120),
        ((20, 0.5, 100, 0), 100),
        ((20, 0.5, 0, 0), None),
    ],
)
def test_the_end_of_a_training_is_known_from_how_far_it_is(arguments, expected):
    assert expected_updates(*arguments) == expected


UPDATE = '2026 | INFO | train_inner | {"update": %f, "loss": "%f", "num_updates": "%d"}\n'


VALID = '2026 | INFO | valid | {"epoch": 1, "valid_loss": "2.125", "valid_accuracy": "0.6151"}\n'


def test_the_bar_holds_loss_validation_and_time_at_80_columns(tmp_path, monkeypatch):
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    terminal = os.fdopen(theirs, "w")
    monkeypatch.setattr(sys, "stderr", terminal)
    made = Configuration(training=TrainingConfig(max_epoch=20))
    with training.Progress(training.Training("finetune", tmp_path, made, tmp_path)) as bar:
        bar.take(UPDATE % (9.5, 3.25, 123_400))
        bar.take(VALID)
        bar.take(UPDATE % (9.6, 12.5, 123_420))
    terminal.flush()
    shown = ""
    while not shown.endswith("\n"):  # a terminal hands over what has come so far
        shown += os.read(ours, 10_000).decode()
    shown = shown.strip("\r\n").split("\r")[-1]
    assert len(shown) <= 80
    assert re.fullmatch(
        r"finetune: +48%\|.{9,}\| \d\d:\d\d<\d\d:\d\d, loss 12\.500, valid 2\.125, accuracy 0\.62",
        shown,
    )


def test_a_training_without_a_terminal_tells_how_far_it_is(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(training, "LINE_SECONDS", 0.001)
    caplog.set_level(logging.INFO)

    def until(pattern):
        while not any(re.fullmatch(pattern, found.getMessage()) for found in caplog.records):
            time.sleep(0.001)  # for ever: the run of all tests has a limit

    made = Configuration(training=TrainingConfig(max_epoch=2))
    asked = training.Training("finetune", tmp_path, made, tmp_path)
    with training.Progress(asked) as bar:
        until("finetune: no update yet")
        bar.take(UPDATE % (0.5, 3.25, 20))
        until(r"finetune: update 20 of 80, loss 3\.250")
        bar.take(UPDATE % (1.0, 2.5, 40))
        until(r"finetune: update 40 of 80, loss 2\.500, 0:00:0\d left")
        bar.take(VALID)
        bar.take('2026 | INFO | valid | {"epoch": 1, "valid_lo')  # cut short
        bar.take(UPDATE % (1.5, 2.25, 60))
        until(
            r"finetune: update 60 of 80, loss 2\.250, valid 2\.125, accuracy 0\.62, 0:00:0\d left"
        )
    lines = len(caplog.records)
    bar._teller.join(60)
    assert not bar._teller.is_alive() and len(caplog.records) <= lines + 1


_SLEEPS = """
import os, time
with open(os.environ["BEGUN"], "w") as file:
    file.write(str(os.getpid()))
time.sleep(600)
"""
_STARTS = """
import sys
from mpbert.model.fairseq_plugin import training
training.LAUNCHER = "sleeps"
from mpbert.cli import main
sys.exit(main(sys.argv[1:]))
"""


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_an_interrupted_training_ends_in_one_line_with_its_processes(rfc_binary, place, tmp_path):
    (tmp_path / "sleeps.py").write_text(_SLEEPS)
    begun, words = tmp_path / "begun", [str(place / "finetune.yaml"), str(tmp_path / "encoder")]
    process = subprocess.Popen(
        [sys.executable, "-c", _STARTS, "finetune", str(rfc_binary), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "BEGUN": str(begun)},
    )
    while not begun.exists() or not begun.read_text():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    output, errors = process.communicate(timeout=300)
    _, last = errors.splitlines()  # the first names the log
    assert last == "mpbert finetune: interrupted; there was no checkpoint yet, nothing is kept"
    assert (output, process.returncode) == ("", 130)
    while is_running(int(begun.read_text())):  # it ends with its parent
        time.sleep(0.05)
