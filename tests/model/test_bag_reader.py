"""Numpy reads a bag as torch does: the same vectors, the same weights of tokens."""

import json
import sys
from itertools import pairwise

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from mpbert.corpus.binary import BinaryCorpus
from mpbert.foundation.errors import EncoderError
from mpbert.model import bag_reader
from mpbert.model.bag_reader import BagReader, shapes_of
from mpbert.model.config import (
    CONTRASTIVE,
    BagConfig,
    Configuration,
    LexicalConfig,
    ModelConfig,
    ObjectiveConfig,
)
from mpbert.model.description import EncoderDescription, read_description
from mpbert.model.directory import save_encoder
from mpbert.model.encoder import TwoTower
from mpbert.model.level_reader import LevelReader
from mpbert.model.sampling import ABSTRACT, BODY, CITING, NEIGHBOUR, SampledSentences
from mpbert.model.text_encoder import open_text_encoder
from mpbert.recommending.reading import EncoderReader

TEXTS = [
    "A host sends mail to a relay.",
    "",
    "The protocol names the sender, the relay and the host; the relay may refuse the mail.",
    "Zymurgy!",
    "Path MTU discovery prevents fragmentation of a packet, a packet, a packet.",
]
SAMPLED = SampledSentences(
    np.array([0, 1, 2, 2, 4, 3, 0, 1]),
    np.array([3, 2, 2, 1]),
    np.array([ABSTRACT, BODY, BODY, NEIGHBOUR, CITING, CITING, BODY, ABSTRACT]),
)


@pytest.fixture(params=["means", "sums", "roles", "matches"])
def encoder(request, rfc_binary, tmp_path):
    """A bag with weights that are far from those it starts with."""
    richness = ["means", "sums", "roles", "matches"].index(request.param)
    sizes = ModelConfig(
        **{"vocab_size": BinaryCorpus(rfc_binary).vocab_size, "dim": 16, "num_heads": 1},
        **{"sentence_layers": 0, "document_layers": 0, "decoder_layers": 0},
        **{"sentence_roles": richness > 1, "shared_tokens": richness > 2},
        bag=BagConfig(token_weights=richness > 0, sums=richness > 0),
        lexical=LexicalConfig(richness > 2, match_abstract=0.5),
    )
    torch.manual_seed(richness)
    model = TwoTower(sizes)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
        if model.lexical:
            model.lexical.mean_length.fill_(40.0)
    objective = ObjectiveConfig(objective=CONTRASTIVE)
    description = EncoderDescription("two-tower", Configuration(model=sizes, objective=objective))
    save_encoder(tmp_path, description, model.state_dict(), rfc_binary / "tokenizer.json")
    return tmp_path


def test_vectors_and_weights_are_those_of_torch(encoder):
    description = read_description(encoder)
    by_numpy, by_torch = (kind(encoder, description) for kind in (BagReader, LevelReader))
    assert isinstance(open_text_encoder(encoder, description), BagReader)
    for name in ("embed_manuscripts", "embed_papers"):
        found, expected = (getattr(r, name)(TEXTS, SAMPLED) for r in (by_numpy, by_torch))
        assert found.dtype == expected.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert by_numpy.num_matched == by_torch.num_matched
    if by_torch.num_matched:
        for name in ("weigh_manuscripts", "weigh_papers"):
            found, expected = (getattr(r, name)(TEXTS, SAMPLED) for r in (by_numpy, by_torch))
            assert np.array_equal(found.offsets, expected.offsets)
            assert np.array_equal(found.tokens, expected.tokens)
            np.testing.assert_allclose(found.weights, expected.weights, atol=1e-5)
            assert found.weights.dtype == expected.weights.dtype == np.float32


@pytest.mark.parametrize("found", [True, False], ids=["scipy", "none"])
def test_many_tokens_give_the_vectors_of_few(encoder, found, monkeypatch):
    reader = BagReader(encoder, read_description(encoder))
    few = reader.embed_papers(TEXTS, SAMPLED)
    monkeypatch.setattr(bag_reader, "find_spec", lambda _: found or None)
    if not found:
        monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setattr(bag_reader, "_FEW", 0)
    monkeypatch.setattr(bag_reader, "_SENTENCES", 3)
    many = reader.embed_papers(TEXTS, SAMPLED)
    np.testing.assert_allclose(many, few, atol=1e-6)
    assert np.ptp(few, axis=0).min() > 1e-3


def test_vectors_that_are_read_one_by_one_have_the_digits_of_the_table(encoder, monkeypatch):
    reader = BagReader(encoder, read_description(encoder))
    alone = reader.embed_papers(TEXTS, SAMPLED)
    assert "all" not in vars(reader._citation._vectors)
    monkeypatch.setattr(reader._citation._vectors, "_left", 3)
    assert np.array_equal(reader.embed_papers(TEXTS, SAMPLED), alone)
    assert "all" in vars(reader._citation._vectors)


def test_manuscripts_that_are_read_together_have_the_digits_of_single_ones(encoder, monkeypatch):
    rng = np.random.default_rng(1)
    asked = []
    for number in (1, 2, 3, 45, 70, 200):  # of sentences; 30 are read, at random, three times
        sentences = [TEXTS[i] for i in rng.integers(0, len(TEXTS), number)]
        asked += [(sentences, place) for place in (0, number // 2, number - 1)]
    reader = EncoderReader(encoder, readings=3, seed=1, dim=16)
    alone = [reader.embed_manuscript(*one) for one in asked]
    assert np.ptp([vector @ alone[-1] for vector in alone]) > 1e-3
    weighed = [reader.weigh_manuscript(*one) for one in asked] if reader.num_matched else []
    for name in ("embed_manuscript", "weigh_manuscript"):  # which none of the two asks again
        monkeypatch.setattr(reader, name, None)
    assert np.array_equal(reader.embed_manuscripts(asked), np.stack(alone))
    found = reader.weigh_manuscripts(asked) if reader.num_matched else []
    for one, expected in zip(found, weighed, strict=True):
        for name in ("offsets", "tokens", "weights", "vocab_size"):
            assert np.array_equal(getattr(one, name), getattr(expected, name))
        assert len(one) == 1


def test_each_reading_of_a_manuscript_is_another_one_at_random(encoder):
    rng = np.random.default_rng(1)
    sentences = [TEXTS[i] for i in rng.integers(0, len(TEXTS), 80)]
    means = [
        EncoderReader(encoder, readings=number, seed=1, dim=16).embed_manuscripts(
            [(sentences, 70), (sentences, 75)]
        )
        for number in (1, 2, 3)
    ]
    for one, other in pairwise(means):
        assert np.abs(one - other).max(axis=1).min() > 1e-6


def test_half_precision_is_read(encoder):
    file = encoder / "model.safetensors"
    description = read_description(encoder)
    before = BagReader(encoder, description).embed_papers(TEXTS, SAMPLED)
    save_file({name: value.astype(np.float16) for name, value in load_file(file).items()}, file)
    found = BagReader(encoder, description).embed_papers(TEXTS, SAMPLED)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, before, atol=0.02)


def test_the_expected_shapes_are_those_of_the_model(encoder):
    sizes = read_description(encoder).model
    state = {name: tuple(value.shape) for name, value in TwoTower(sizes).state_dict().items()}
    assert shapes_of(sizes) == state


@pytest.mark.parametrize("wrong", ["one less", "other sizes", "more tokens", "cut", "none"])
def test_weights_that_do_not_fit_are_refused_in_one_line(encoder, wrong):
    file = encoder / "model.safetensors"
    state = load_file(file)
    if wrong == "one less":
        save_file({k: v for k, v in state.items() if k != "citation.norm.bias"}, file)
    elif wrong == "other sizes":
        about = json.loads((encoder / "config.json").read_text())
        about["model"]["dim"] = 8
        (encoder / "config.json").write_text(json.dumps(about))
    elif wrong == "more tokens":
        words = json.loads((encoder / "tokenizer.json").read_text())
        words["model"]["vocab"] |= {f"more{i}": 5000 + i for i in range(9000)}
        (encoder / "tokenizer.json").write_text(json.dumps(words))
    elif wrong == "cut":
        file.write_bytes(file.read_bytes()[:-40])
    else:
        file.unlink()
    with pytest.raises(EncoderError, match=r"model\.safetensors: (weights|unread)") as caught:
        BagReader(encoder, read_description(encoder))
    assert "\n" not in str(caught.value)
