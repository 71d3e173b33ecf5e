"""The sentence encoder's last layers are trained with the document level, from commands."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from mpbert.commands import build_index, embed, embed_sentences, finetune
from mpbert.foundation.errors import ConfigError, EncoderError, MpbertError
from mpbert.model.config import ModelConfig, UpperConfig
from mpbert.model.description import read_description
from mpbert.model.directory import load_two_tower
from mpbert.model.encoder import TwoTower
from mpbert.model.fairseq_plugin.encoders import check_start
from mpbert.recommending.reading import EncoderReader
from mpbert.vectors.store import VectorStore
from tests.conftest import keep_levels
from tests.model.fairseq_plugin.new_texts import cosines_with_stored

pytestmark = [pytest.mark.fairseq, pytest.mark.usefixtures("forked_trainings")]
LEVELS = Path(__file__).parents[3] / "finetune" / "configs" / "levels.yaml"
SMALL = [
    *("dim=16", "ffn_dim=32", "num_heads=2", "upper_dim=8", "document_layers=1", "dropout=0"),
    *("max_valid=20", "dynamic=false", "warmup_updates=1"),
]


def trained(data, output, stored, *settings):
    settings = [*SMALL, *settings]
    finetune.run(finetune.Config(data, LEVELS, output, sentence_vectors=stored, settings=settings))
    return output


@pytest.fixture(scope="module")
def made(rfc_corpus, rfc_binary, stored, forked_trainings, tmp_path_factory):
    """A folder with a tuned encoder, its vectors, and an index."""
    out = tmp_path_factory.mktemp("tuned")
    settings = ["tuned_layers=1", "lr=0.01", "batch_tokens=20000", "max_update=6"]
    settings.append("losses_apart=true")
    trained(rfc_binary, out / "encoder", stored, *settings)
    embed.run(embed.Config(rfc_binary, out / "encoder", out / "vectors", sentence_vectors=stored))
    index = build_index.Config(
        rfc_corpus, out / "encoder", out / "vectors", out / "index", readings=1
    )
    with pytest.MonkeyPatch.context() as patch:
        keep_levels(patch)
        build_index.run(index)
    return out


def test_before_the_first_update_vectors_are_those_of_the_frozen_kind(rfc_binary, stored, tmp_path):
    vectors = []
    for layers in (0, 1):
        settings = [f"tuned_layers={layers}", "lr=0", "warmup_init_lr=0", "max_update=1"]
        encoder = trained(rfc_binary, tmp_path / f"encoder-{layers}", stored, *settings)
        output = tmp_path / f"vectors-{layers}"
        embed.run(
            embed.Config(rfc_binary, encoder, output, sentence_vectors=stored, splits=["test"])
        )
        vectors.append(VectorStore.load(output, "papers").vectors)
    frozen, tuned = vectors
    assert np.abs(frozen[:, 16:]).max() > 0.1  # dimensions of the levels
    np.testing.assert_allclose(tuned, frozen, atol=5e-3)  # states are stored in half precision
    assert not np.array_equal(tuned, frozen)


def test_tuned_layers_learn_at_their_own_rate_and_those_below_stay(made, small_encoder):
    before = load_file(small_encoder / "model.safetensors")
    after = load_file(made / "encoder" / "tuned_layers.safetensors")
    names = {name.removeprefix("encoder.layer.1.") for name in before if "layer.1." in name}
    assert {name.removeprefix("0.") for name in after} == names
    for name in names - {"attention.self.key.bias"}:  # which changes no attention
        moved = (after[f"0.{name}"] - before[f"encoder.layer.1.{name}"]).abs().max()
        assert 0 < moved < 6.1 * 0.01 * 0.1, name  # updates, lr, tuned_lr
    copy = made / "encoder" / "sentence_encoder" / "model.safetensors"
    assert copy.read_bytes() == (small_encoder / "model.safetensors").read_bytes()
    assert read_description(made / "encoder").model.upper.tuned_layers == 1
    assert not any("tuned" in name for name in load_file(made / "encoder" / "model.safetensors"))


@pytest.mark.parametrize("folder", ["encoder", "index/encoder"])
def test_a_new_text_has_the_vector_that_it_would_have_in_the_corpus(
    folder, made, store, rfc_binary
):
    found = cosines_with_stored(made / folder, made / "vectors", store, rfc_binary)
    assert len(found) > 1
    np.testing.assert_allclose(found, 1, atol=1e-4)


def test_a_model_of_sentence_transformers_that_is_saved_keeps_the_tuned_layers(made, tmp_path):
    from sentence_transformers import SentenceTransformer

    found = SentenceTransformer(str(made / "encoder"), trust_remote_code=True, device="cpu")
    found.save(str(tmp_path / "again"), create_model_card=False)
    again = SentenceTransformer(str(tmp_path / "again"), trust_remote_code=True, device="cpu")
    texts = ["We route packets.", ["Lists work too.", "Do they?"]]
    assert np.array_equal(again.encode(texts), found.encode(texts))
    name = "tuned_layers.safetensors"
    kept, saved = (load_file(path / name) for path in (made / "encoder", tmp_path / "again"))
    assert all(torch.equal(value, saved[key]) for key, value in kept.items())


def test_an_encoder_without_its_tuned_layers_is_refused(made, rfc_binary, stored, tmp_path):
    copy = shutil.copytree(made / "encoder", tmp_path / "copy")
    (copy / "manifest.json").unlink()
    (copy / "tuned_layers.safetensors").unlink()
    with pytest.raises(EncoderError, match=r"tuned_layers.safetensors: unreadable"):
        EncoderReader(copy, readings=1, seed=1, dim=24)
    with pytest.raises(EncoderError, match=r"tuned_layers.safetensors: unreadable"):
        embed.run(embed.Config(rfc_binary, copy, tmp_path / "none", sentence_vectors=stored))


def test_a_store_without_the_states_is_refused(
    made, rfc_corpus, rfc_binary, small_encoder, stored, tmp_path
):
    plain, other = tmp_path / "plain", tmp_path / "out"
    embed_sentences.run(embed_sentences.Config(rfc_corpus, small_encoder, plain))
    message = "found token states for {} tuned layers; expected {}.*--tuned-layers {}"
    with pytest.raises(EncoderError, match=message.format(0, 1, 1)):
        embed.run(embed.Config(rfc_binary, made / "encoder", other, sentence_vectors=plain))
    with pytest.raises(MpbertError, match=message.format(1, 2, 2)):
        trained(rfc_binary, other, stored, "tuned_layers=2", "max_update=1")
    with pytest.raises(MpbertError, match="tuned_layers 1: found no sentence vectors; expected"):
        trained(rfc_binary, tmp_path / "own", None, "tuned_layers=1", "max_update=1")


def test_levels_with_a_loss_apart_keep_their_gate_to_the_byte(made):
    model = load_two_tower(made / "encoder")
    assert torch.equal(model.citation.log_gate, TwoTower(model.config).citation.log_gate)


def test_a_start_keeps_its_tuned_layers(made, rfc_binary, stored, tmp_path):
    given = ModelConfig(dim=16, num_heads=2, upper=UpperConfig("concatenated"))
    with pytest.raises(EncoderError, match="expected the same: --settings tuned_layers=1"):
        check_start(made / "encoder", given)
    output = tmp_path / "further"
    settings = [*SMALL, "tuned_layers=1", "lr=0", "warmup_init_lr=0", "max_update=1"]
    finetune.run(
        finetune.Config(
            *(rfc_binary, LEVELS, output, made / "encoder"),
            sentence_vectors=stored,
            settings=settings,
        )
    )
    before, after = (
        load_file(path / "tuned_layers.safetensors") for path in (made / "encoder", output)
    )
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_stacked_levels_have_no_encoder_to_tune():
    with pytest.raises(ConfigError, match="tuned_layers 1 with join stacked"):
        UpperConfig(tuned_layers=1)


def test_a_killed_run_resumes_bit_for_bit(trainer, tuning, tuned_at_once):
    killed = trainer.run("tuned-killed", "finetune", *tuning, kill_at=7)
    trainer.run("tuned-killed", "finetune", *tuning)
    first, second = (
        torch.load(save / "checkpoint_last.pt", weights_only=True)
        for save in (tuned_at_once, killed)
    )
    assert any(name.startswith("tuned.layers.0.") for name in first["model"])
    for name, value in first["model"].items():
        assert torch.equal(value, second["model"][name]), name
    moments = [found["last_optimizer_state"]["state"] for found in (first, second)]
    for one, other in zip(moments[0].values(), moments[1].values(), strict=True):
        assert torch.equal(one["exp_avg"], other["exp_avg"])
