import json
import re
import socket

import pytest
import torch

from mpbert.model.directory import load_two_tower

pytestmark = pytest.mark.fairseq
# dropout is random, and not the same on several processes
MODEL = ("--dim=16", "--ffn-dim=16", "--num-heads=2", "--dropout=0", "--lr=0.003")
PARTS = {
    "contrastive": (
        *("--objective=contrastive", "--nested-dims=8", "--mpt-weight=0.1", "--citing-sentences=2"),
        *("--sentence-layers=0", "--document-layers=0", "--token-weights", "--sums"),
        *("--sentence-roles", "--shared-tokens", "--exact-matches"),
    ),
    "mpt-src-tgt": (
        *("--objective=mpt-src-tgt", "--sentence-layers=1", "--document-layers=1"),
        *("--attention-dropout=0", "--activation-dropout=0"),
    ),
}


def processes(count):
    """What torch.distributed.run sets for each process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    world = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(count)}
    return tuple({**world, "RANK": str(rank)} for rank in range(count))


def weights(save):
    """Weights but for biases of keys, which change no attention: Adam turns rounding into steps."""
    found = torch.load(save / "checkpoint_last.pt", weights_only=True)["model"]
    for name, bias in found.items():
        if name.endswith("qkv.bias"):
            size = len(bias) // 3
            bias[size : 2 * size] = 0
    return found


def logged(save):
    """Losses of the validations, and how many examples each update had."""
    lines = (save / "train.log").read_text().splitlines()
    logs = [
        json.loads(x[x.index("{") :]) for x in lines if re.search(r"\| (train_inner|valid) \| {", x)
    ]
    losses = [float(log["valid_loss"]) for log in logs if "valid_loss" in log]
    return losses, [float(log["bsz"]) for log in logs if "bsz" in log]


def assert_same(one, several, step=0.003):
    """Weights differ by less than a fifth of one step of Adam, which `--lr` bounds.

    Where a gradient is near zero, Adam enlarges its rounding, and how much depends on the CPU.
    ``test_gathered_gradients.py`` compares the gradients.
    """
    expected, found = weights(one), weights(several)
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        assert (value - found[name]).abs().max() < step / 5, name


@pytest.mark.parametrize("objective", PARTS)
def test_two_processes_of_which_one_was_killed_learn_what_one_process_learns(trainer, objective):
    """The second has a disk of its own, as on another machine."""
    flags = (*MODEL, *PARTS[objective], "--max-tokens=9000", "--max-update=9")
    one = trainer.run(f"one-{objective}", "finetune", *flags)
    two = f"two-{objective}"
    killed = {"environments": processes(2), "apart": True, "kill_at": 7}
    save = trainer.run(two, "finetune", *flags, **killed)
    trainer.run(two, "finetune", *flags, environments=processes(2), apart=True)
    log = (save / "train.log").read_text()
    assert "training on 2 devices" in log and "@ 6 updates" in log
    assert_same(one, save)
    assert logged(save)[0] == pytest.approx(logged(one)[0], abs=2e-3)  # of both parts


def test_two_processes_tune_the_layers_of_a_sentence_encoder_as_one_does(
    trainer, tuning, tuned_at_once
):
    two = trainer.run("tuned-two", "finetune", *tuning, environments=processes(2))
    assert "training on 2 devices" in (two / "train.log").read_text()
    assert any(name.startswith("tuned.layers.0.") for name in weights(two))
    assert_same(tuned_at_once, two)


def test_processes_without_an_example_of_a_batch_change_nothing(trainer):
    flags = (*MODEL, *PARTS["contrastive"], "--max-tokens=600", "--max-update=4", "--max-valid=1")
    one = trainer.run("one-few", "finetune", *flags)
    three = trainer.run("three-few", "finetune", *flags, environments=processes(3))
    assert set(logged(three)[1]) == set(logged(one)[1]) == {1.0}
    assert_same(one, three)


def test_two_processes_without_a_gpu_give_a_checkpoint_that_loads(trainer):
    """An odd number of batches: the second process ends with fairseq's empty batch."""
    flags = ("--max-epoch=1", "--max-tokens=50000", "--save-interval-updates=0")
    save = trainer.run("two", "pretrain", *flags, environments=processes(2))
    log = (save / "train.log").read_text()
    assert "training on 2 devices" in log
    load_two_tower(trainer.export(save))


def test_that_number_of_batches_is_odd(rfc_binary):
    from mpbert.model.fairseq_plugin.pretraining.task import PretrainOptions, PretrainTask

    task = PretrainTask(PretrainOptions(data=str(rfc_binary), seed=1, block_sentences=12))
    task.load_dataset("train")
    train = task.dataset("train")
    assert len(train.batch_by_size(train.ordered_indices(), 50000)) % 2 == 1
