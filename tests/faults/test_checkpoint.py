"""What a killed training goes on from is whole, or is not used."""

import dataclasses
import importlib

import numpy as np
import pytest
import torch

from mpbert.commands import embed
from mpbert.foundation.checksums import archive_is_whole
from mpbert.foundation.errors import DamagedError, EncoderError
from mpbert.foundation.seeding import named_rng
from mpbert.methods import training
from mpbert.methods.checkpoint import Checkpoint, State
from mpbert.methods.training import Learner, Plan, train
from mpbert.vectors.store import VectorStore


def flip(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def test_a_checkpoint_with_any_bit_flipped_is_made_anew(tmp_path):
    checkpoint = Checkpoint(tmp_path, "training", "of this corpus")
    arrays = {"a": np.arange(24.0, dtype=np.float32).reshape(4, 6), "step": np.array(7)}
    checkpoint.save(State(arrays, {"epochs": 3}))
    path = tmp_path / "training.safetensors"
    found = checkpoint.load()
    assert found.values == {"epochs": 3}
    assert all(np.array_equal(found.arrays[name], arrays[name]) for name in arrays)
    for bit in named_rng(1, "flip").integers(8 * path.stat().st_size, size=40):
        flip(path, bit)
        again = checkpoint.load()  # a flip in the padding changes nothing
        assert again is None or all(np.array_equal(again.arrays[n], arrays[n]) for n in arrays)
        flip(path, bit)
    path.write_bytes(path.read_bytes()[:-5])
    assert checkpoint.load() is None


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_damaged_blocks_of_vectors_are_embedded_again(damage, formats, monkeypatch):
    def killed(*arguments):
        raise KeyboardInterrupt

    config = embed.Config(
        formats / "binary", formats / "encoder", formats / "out", device="cpu", splits=["test"]
    )
    undisturbed = dataclasses.replace(config, output=formats / "undisturbed")
    embed.run(undisturbed)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(VectorStore, "save_ids", killed)
        embed.run(config)
    (block,) = (formats / ".out.mpbert-parts").glob("papers.*")
    size = block.stat().st_size
    if damage == "truncated":
        block.write_bytes(block.read_bytes()[: size // 2])
    else:
        flip(block, 4 * size)
    embed.run(config)
    assert not (formats / ".out.mpbert-parts").exists()
    expected = np.load(undisturbed.output / "papers.npy")
    assert np.array_equal(np.load(formats / "out" / "papers.npy"), expected)
    # the processor that made the fixture may round otherwise
    np.testing.assert_allclose(expected, np.load(formats / "vectors" / "papers.npy"), atol=1e-5)


@pytest.mark.fairseq
@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_a_damaged_checkpoint_of_fairseq_is_refused(damage, tmp_path, formats):
    from mpbert.commands import export_encoder
    from mpbert.model.fairseq_plugin.compat import _of_whole

    path = tmp_path / "checkpoint_last.pt"
    torch.save({"model": {"a": torch.zeros(1000)}}, path)
    load = _of_whole(lambda path: torch.load(path, weights_only=True))
    assert load(str(path))["model"]["a"].shape == (1000,)
    size = path.stat().st_size
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[: size // 2])
    else:
        flip(path, 4 * size)  # among the numbers: torch alone does not see it
    assert not archive_is_whole(path)
    with pytest.raises(DamagedError, match=r"found a damaged checkpoint.*move it away to train"):
        load(str(path))
    with pytest.raises(EncoderError, match="found a damaged checkpoint"):
        export_encoder.run(export_encoder.Config(path, formats / "binary", tmp_path / "out"))


class Code:
    """What pickle would run when it is loaded."""

    def __init__(self, made):
        self.made = made

    def __reduce__(self):
        return open, (str(self.made), "w")


@pytest.mark.fairseq
def test_a_checkpoint_with_code_in_it_is_refused_and_the_code_not_run(tmp_path, formats):
    importlib.import_module("mpbert.model.fairseq_plugin.compat")  # first: fairseq needs its fixes
    from fairseq import checkpoint_utils

    from mpbert.commands import export_encoder

    path, made = tmp_path / "checkpoint_last.pt", tmp_path / "made"
    torch.save({"model": {"a": torch.zeros(3)}, "cfg": Code(made)}, path)
    with pytest.raises(DamagedError, match="found a checkpoint with code in it, which was not run"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))
    with pytest.raises(EncoderError, match="unreadable"):
        export_encoder.run(export_encoder.Config(path, formats / "binary", tmp_path / "out"))
    assert not made.exists()


class Counting(Learner):
    """Counts its steps; the fourth one is interrupted."""

    plan = Plan("count", 9, "epoch")

    def __init__(self):
        self.steps = 0

    def step(self, number):
        if number == 3:
            raise KeyboardInterrupt
        self.steps += 1
        yield 1.0

    def state(self):
        return State({"steps": np.array(self.steps)})

    def restore(self, state):
        self.steps = int(state.arrays["steps"])


def test_an_interrupted_training_says_what_it_goes_on_from_and_then_that_it_does(
    tmp_path, monkeypatch, caplog
):
    caplog.set_level("INFO", "mpbert")
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        train(Counting())
    monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt, match="after 3 of 9 epochs is kept: run this again"):
            train(Counting(), Checkpoint(tmp_path, "training", "of this corpus"))
    assert "count: training goes on after 3 epochs" in caplog.messages
