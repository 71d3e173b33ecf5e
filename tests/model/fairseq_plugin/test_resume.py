import shutil
import signal

import pytest
import torch

pytestmark = pytest.mark.fairseq


def state(directory):
    return torch.load(directory / "checkpoint_last.pt", weights_only=True)


def assert_identical(a, b):
    assert a["model"].keys() == b["model"].keys()
    for name, weights in a["model"].items():
        assert torch.equal(weights, b["model"][name]), name
    moments = [s["last_optimizer_state"]["state"] for s in (a, b)]
    for first, second in zip(moments[0].values(), moments[1].values(), strict=True):
        assert all(torch.equal(first[key], second[key]) for key in ("exp_avg", "exp_avg_sq"))
    assert a["extra_state"]["train_iterator"] == b["extra_state"]["train_iterator"]


@pytest.mark.parametrize("stage", ["pretrain", "finetune"])
def test_a_run_killed_within_its_second_epoch_resumes_bit_for_bit(trainer, stage, request):
    at_once = request.getfixturevalue("pretrained" if stage == "pretrain" else "finetuned")
    flags = ["--max-update=9"]
    if stage == "finetune":
        flags.append(f"--init={request.getfixturevalue('pretrained_encoder')}")
    killed = trainer.run(f"killed-{stage}", stage, *flags, kill_at=7)
    iterator = state(killed)["extra_state"]["train_iterator"]
    assert iterator["epoch"] == 2
    assert iterator["iterations_in_epoch"] > 0
    trainer.run(f"killed-{stage}", stage, *flags)
    assert_identical(state(at_once), state(killed))


@pytest.mark.parametrize("stage", ["pretrain", "finetune"])
def test_a_run_ended_by_sigterm_has_a_checkpoint_of_that_update_and_resumes_bit_for_bit(
    trainer, stage, request
):
    at_once = request.getfixturevalue("pretrained" if stage == "pretrain" else "finetuned")
    flags = ["--max-update=9"]
    if stage == "finetune":
        flags.append(f"--init={request.getfixturevalue('pretrained_encoder')}")
    ended = trainer.run(f"ended-{stage}", stage, *flags, kill_at=7, by=signal.SIGTERM)
    assert state(ended)["optimizer_history"][-1]["num_updates"] == 8  # the periodic one is of 6
    trainer.run(f"ended-{stage}", stage, *flags)
    assert_identical(state(at_once), state(ended))


def test_a_run_ended_by_sigterm_at_an_epochs_end_resumes_bit_for_bit(trainer, pretrained):
    size = state(trainer.run("epoch", "pretrain", "--max-epoch=1"))
    last = size["optimizer_history"][-1]["num_updates"]
    ended = trainer.run(
        "ended-epoch", "pretrain", "--max-update=9", kill_at=last - 1, by=signal.SIGTERM
    )
    assert state(ended)["optimizer_history"][-1]["num_updates"] == last
    trainer.run("ended-epoch", "pretrain", "--max-update=9")
    assert_identical(state(pretrained), state(ended))


def test_sigterm_at_the_last_update_ends_a_training_as_if_it_had_not_come(trainer, pretrained):
    with pytest.raises(AssertionError):  # it ends with 0, and so was not ended by the signal
        trainer.run("last", "pretrain", "--max-update=9", kill_at=8, by=signal.SIGTERM)
    assert_identical(state(pretrained), state(trainer.root / "last"))
    assert (trainer.root / "last" / "checkpoint_best.pt").exists()


def test_a_run_stopped_at_an_epochs_end_resumes_bit_for_bit(trainer, pretrained):
    trainer.run("stopped", "pretrain", "--max-epoch=1")
    stopped = trainer.run("stopped", "pretrain", "--max-update=9")
    assert_identical(state(pretrained), state(stopped))


def test_a_finished_run_that_is_started_again_trains_no_further(trainer, pretrained):
    shutil.copytree(pretrained, trainer.root / "finished")
    again = trainer.run("finished", "pretrain", "--max-update=9")
    assert_identical(state(pretrained), state(again))
    before = (pretrained / "checkpoint_last.pt").read_bytes()
    assert (again / "checkpoint_last.pt").read_bytes() == before


def test_a_copied_checkpoint_is_whole_or_absent(tmp_path, monkeypatch):
    from mpbert.model.fairseq_plugin import compat as fairseq_compat

    source, target = tmp_path / "a.pt", tmp_path / "checkpoint_last.pt"
    source.write_text("new")
    target.write_text("old")

    def torn(start, end):
        with open(end, "w") as file:
            file.write("n")
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copyfile", torn)
    with pytest.raises(KeyboardInterrupt):
        fairseq_compat._copy_whole(str(source), str(target))
    assert target.read_text() == "old"
    monkeypatch.undo()
    assert fairseq_compat._copy_whole(str(source), str(target))
    assert target.read_text() == "new"
