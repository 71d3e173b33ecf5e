"""Levels beside a trained bag, from commands: stored vectors, pretraining, training, new texts."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from mpbert.commands import embed, embed_sentences, finetune, pretrain
from mpbert.foundation.errors import ConfigError, EncoderError
from mpbert.model.config import ModelConfig, UpperConfig
from mpbert.model.description import read_description
from mpbert.model.directory import load_two_tower
from mpbert.model.fairseq_plugin.encoders import check_start
from mpbert.vectors.store import VectorStore
from tests.model.fairseq_plugin.new_texts import cosines_with_stored

pytestmark = pytest.mark.fairseq
ROOT = Path(__file__).parents[3]
BAG = ROOT / "finetune" / "configs" / "token_bag.yaml"
LEVELS = ROOT / "finetune" / "configs" / "levels.yaml"
DOCUMENTS = ROOT / "pretrain" / "configs" / "documents.yaml"
HIERARCHICAL = DOCUMENTS.with_name("hierarchical.yaml")
SMALL = ["dim=16", "ffn_dim=32", "num_heads=2", "batch_tokens=4000", "max_valid=20"]
LARGE = ["batch_tokens=40000"]  # so that an epoch of all examples is few updates
BESIDE = [*SMALL, "upper_dim=8", "document_layers=1", "dynamic=false"]


def losses(directory):
    lines = (directory / "train.log").read_text().splitlines()
    logs = [json.loads(x[x.index("{") :]) for x in lines if "| train_inner |" in x]
    return [float(log["loss"]) for log in logs]


@pytest.fixture(scope="module")
def made(rfc_corpus, rfc_binary, small_encoder, forked_trainings, tmp_path_factory):
    """A folder with stored vectors, a pretrained document level, a bag and the model of all."""
    out = tmp_path_factory.mktemp("levels")
    stored = out / "stored"
    embed_sentences.run(embed_sentences.Config(rfc_corpus, small_encoder, stored))
    settings = [*SMALL, "document_layers=1", "upper_dim=8", "batch_tokens=200", "warmup_updates=10"]
    pretrain.run(
        pretrain.Config(
            rfc_binary,
            DOCUMENTS,
            out / "documents",
            sentence_vectors=stored,
            settings=[*settings, "max_update=100", "lr=0.02"],
        )
    )
    bag = finetune.Config(
        rfc_binary, BAG, out / "bag", settings=[*SMALL, *LARGE, "max_epoch=1", "warmup_updates=2"]
    )
    finetune.run(bag)
    finetune.run(
        finetune.Config(
            rfc_binary,
            LEVELS,
            out / "encoder",
            init=out / "bag",
            document_level=out / "documents",
            sentence_vectors=stored,
            settings=[*BESIDE, *LARGE, "bag_lr=0", "mpt_weight=0.1", "warmup_updates=2"],
        )
    )
    embed.run(embed.Config(rfc_binary, out / "encoder", out / "vectors", sentence_vectors=stored))
    return out


def test_a_document_level_learns_which_sentence_was_masked(made):
    found = losses(made / "documents.training")
    assert found[-1] < found[0] - 0.1
    assert found[0] == pytest.approx(np.log2(200), abs=1.5)  # bits, among some 200 sentences


def test_a_fixed_bag_stays_and_its_levels_learn(made):
    before, after, documents = (
        load_file(made / name / "model.safetensors") for name in ("bag", "encoder", "documents")
    )
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert after["citation.log_gate"] != load_two_tower(made / "bag").config.upper.gate
    name = "documents.blocks.0.attention.out.weight"
    learnt, start = after[f"citation.upper.{name}"], documents[name]
    assert start.abs().max() > 0  # it was zero before it was pretrained
    assert 0 < (learnt - start).abs().mean() < 0.5 * start.abs().mean()
    assert not torch.equal(learnt, after[f"manuscript.upper.{name}"])


def test_vectors_have_both_parts_and_tell_what_made_them(made, small_encoder):
    model = read_description(made / "encoder").model
    assert (model.dim, model.vector_dim, model.upper.pretrained_dim) == (16, 24, 32)
    assert VectorStore.load(made / "vectors", "papers").vectors.shape[1] == 24
    copy = made / "encoder" / "sentence_encoder" / "model.safetensors"
    assert copy.read_bytes() == (small_encoder / "model.safetensors").read_bytes()


def test_texts_that_were_read_ahead_have_the_same_vectors(made, store):
    from mpbert.recommending.reading import EncoderReader

    asked = [([paper.title, *paper.sentences], 3) for paper in map(store.paper, range(6))]
    alone, ahead = (EncoderReader(made / "encoder", readings=2, seed=1, dim=24) for _ in range(2))
    ahead.read_ahead(asked)
    encoder = ahead._encoder._sentences.encoder
    encoder._encode = None  # nothing is left to be read
    for sentences, place in asked:
        found = ahead.embed_manuscript(sentences, place)
        np.testing.assert_allclose(found, alone.embed_manuscript(sentences, place), atol=1e-5)
    needed = alone._encoder._sentences.encoder._known
    assert set(encoder._known) == set(needed)  # what the bag alone reads costs nothing


def test_a_new_text_has_the_vector_that_it_would_have_in_the_corpus(made, store, rfc_binary):
    found = cosines_with_stored(made / "encoder", made / "vectors", store, rfc_binary)
    assert len(found) > 1
    np.testing.assert_allclose(found, 1, atol=1e-4)  # vectors are stored in half precision


def test_an_encoder_says_what_it_was_not_given(made, rfc_binary):
    with pytest.raises(EncoderError, match="the encoder needs them: give the output of"):
        embed.run(embed.Config(rfc_binary, made / "encoder", made / "none"))
    with pytest.raises(EncoderError, match="the encoder reads none"):
        stored = made / "stored"
        embed.run(embed.Config(rfc_binary, made / "bag", made / "none", sentence_vectors=stored))


@pytest.mark.parametrize(
    ("configuration", "vectors", "settings", "expected"),
    [
        (HIERARCHICAL, None, ["document_layers=0"], "at least 1 document layer"),
        (HIERARCHICAL, None, ["decoder_layers=2"], "0 with levels beside the bag"),
        (DOCUMENTS, None, [], "at least 1 document layer"),
        (DOCUMENTS, Path("stored"), ["document_layers=0"], "at least 1 document layer"),
        (DOCUMENTS.with_name("tiny.yaml"), Path("stored"), [], "at least 1 document layer"),
    ],
)
def test_what_a_document_level_cannot_learn_from_is_refused_at_once(
    configuration, vectors, settings, expected, tmp_path
):
    config = pretrain.Config(
        Path("none"), configuration, tmp_path / "out", sentence_vectors=vectors, settings=settings
    )
    with pytest.raises(ConfigError, match=f"expected {expected}"):
        pretrain.run(config)


def test_heads_divide_the_vectors_of_the_sentences():
    upper = UpperConfig("added", pretrained_dim=30)
    ModelConfig(dim=16, num_heads=4, document_layers=0, upper=upper)
    with pytest.raises(ConfigError, match="dim 30 is no multiple of 4 heads"):
        ModelConfig(dim=16, num_heads=4, document_layers=1, upper=upper)


def test_stacked_levels_read_no_stored_vectors(made, rfc_binary):
    from mpbert.model.fairseq_plugin.finetuning.task import FinetuneOptions, FinetuneTask

    task = FinetuneTask(
        FinetuneOptions(data=str(rfc_binary), seed=1, sentence_vectors=str(made / "stored"))
    )
    with pytest.raises(ConfigError, match="stacked levels read tokens alone"):
        task.upper_of(read_description(made / "bag").model)


def test_the_pretraining_of_another_kind_is_no_document_level(made):
    from mpbert.model.directory import take_document_level

    model = load_two_tower(made / "encoder")
    with pytest.raises(EncoderError, match="found two-tower of the sentence vectors of none"):
        take_document_level(model, made / "bag")


@pytest.fixture(scope="module")
def own(rfc_binary, forked_trainings, tmp_path_factory):
    """A folder with levels of own tokens, pretrained, and the model that starts from them."""
    out = tmp_path_factory.mktemp("own")
    sizes = [*SMALL, "sentence_layers=1", "document_layers=1"]
    settings = [*sizes, "batch_tokens=3000", "warmup_updates=10", "max_update=60", "lr=0.005"]
    pretrain.run(pretrain.Config(rfc_binary, HIERARCHICAL, out / "levels", settings=settings))
    finetune.run(
        finetune.Config(
            rfc_binary,
            ROOT / "finetune" / "configs" / "hierarchical.yaml",
            out / "encoder",
            init=out / "levels",
            settings=[*sizes, "max_update=3", "warmup_updates=2"],
        )
    )
    return out


def test_levels_of_own_tokens_learn_which_sentence_was_masked(own):
    found = losses(own / "levels.training")
    assert found[-1] < found[0] - 0.3


def test_towers_start_from_pretrained_levels_of_own_tokens(own):
    before, after = (load_file(own / name / "model.safetensors") for name in ("levels", "encoder"))
    start = load_two_tower(own / "levels", sentence_roles=True, shared_tokens=True).state_dict()
    places = {"bag.": "encoder.bag.", "sentences.": "upper.sentences."}
    places["documents."] = "upper.documents."
    learnt = [name for name in before if name.startswith(tuple(places))]
    assert len(learnt) > 20
    for name in learnt:
        part = next(part for part in places if name.startswith(part))
        for tower in ("manuscript", "citation"):
            there = f"{tower}.{places[part]}{name.removeprefix(part)}"
            assert torch.equal(start[there], before[name])
            assert (after[there] - before[name]).abs().max() < 0.05  # 3 updates away
    name = "blocks.0.attention.out.weight"
    assert before[f"sentences.{name}"].abs().max() > 0  # zero before it was pretrained
    assert not torch.equal(after[f"citation.upper.sentences.{name}"], before[f"sentences.{name}"])


def test_a_start_of_another_kind_is_refused_with_its_remedy(made, own):
    with pytest.raises(EncoderError, match="give it as --document-level"):
        check_start(made / "documents", read_description(made / "documents").model)
    with pytest.raises(EncoderError, match="expected join=added or join=concatenated"):
        check_start(own / "levels", ModelConfig(dim=16, num_heads=2))
