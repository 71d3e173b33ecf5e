"""Tuned layers go on from stored states as the whole encoder would."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from mpbert.foundation.ragged_rows import Ragged
from mpbert.model import tuned
from mpbert.model.packed_states import PackedStates, pack_states
from mpbert.model.packing import pack
from mpbert.model.tuned import TunedLayers
from mpbert.pretrained.sentence_encoder import SentenceEncoder


@pytest.fixture(scope="module")
def texts(store):
    return ["", *store.titles[:30], *store.sentence_texts(np.arange(0, 2000, 50))]


class Stored:
    """As TokenStates, of rows in memory."""

    def __init__(self, rows):
        self.rows, self.asked = rows, []

    def lengths(self, texts):
        self.asked.append(texts.tolist())
        return self.rows.lengths[texts]

    def gather(self, texts):
        return self.rows.take(texts).items


def packed(encoder, texts, layers):
    _, states = encoder.encode_with_states(texts, layers)
    return PackedStates.of(Stored(states), np.arange(len(texts)))


def encoder_of(folder):
    return SentenceEncoder(folder, torch.device("cpu"))


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_are_those_of_the_whole_encoder(layers, pooling, small_encoder, texts, tmp_path):
    folder = shutil.copytree(small_encoder, tmp_path / "encoder")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": pooling}))
    encoder = encoder_of(folder)
    states, order = packed(encoder, texts, layers)
    found = TunedLayers(encoder, layers)(states)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.detach(), encoder.encode(texts)[order], atol=2e-3)


@pytest.mark.parametrize("at_once", [60, 8192])
def test_gradients_are_those_of_the_whole_encoder(
    at_once, small_encoder, texts, monkeypatch, tmp_path
):
    """By Hugging Face's own classes, a padded batch; in parts and at once."""
    from transformers import AutoModel, AutoTokenizer

    monkeypatch.setattr(tuned, "_AT_ONCE", at_once)
    whole = AutoModel.from_pretrained(small_encoder)
    tokens = AutoTokenizer.from_pretrained(small_encoder)(
        texts, truncation=True, max_length=24, padding=True, return_tensors="pt"
    )
    weights = torch.from_numpy(np.random.default_rng(1).normal(size=(len(texts), 32))).float()
    is_token = tokens["attention_mask"][:, :, None]
    states = whole.eval()(**tokens).last_hidden_state
    means = (states * is_token).sum(1) / is_token.sum(1)
    (normalize(means, dim=1) * weights).sum().backward()
    encoder = encoder_of(small_encoder)
    layers = TunedLayers(encoder, 1)
    read, order = packed(encoder, texts, 1)
    assert (len(read.sentences.parts(at_once)) > 1) == (at_once == 60)
    (layers(read) * weights[order]).sum().backward()
    expected = whole.encoder.layer[-1].named_parameters()
    pairs = zip(expected, layers.layers[0].parameters(), strict=True)
    for (name, parameter), found in pairs:
        scale = parameter.grad.abs().max().clamp(min=1e-2)
        assert (parameter.grad - found.grad).abs().max() < 0.02 * scale, name


def test_nothing_to_read_gives_no_vectors(small_encoder):
    layers = TunedLayers(encoder_of(small_encoder), 1)
    none = Ragged.of_lengths(np.zeros((0, 32), np.float16), np.zeros(0, np.int64))
    states, _ = PackedStates.of(Stored(none), np.zeros(0, np.int64))
    assert layers(states).shape == (0, 32)


def test_each_distinct_text_of_two_batches_is_packed_once():
    lengths = np.array([3, 1, 2, 5, 4])  # of five stored texts
    numbers = np.repeat(np.arange(5), lengths).astype(np.float16)
    stored = Stored(Ragged.of_lengths(np.stack([numbers, numbers], 1), lengths))

    def batch(texts, per_paper):
        ones = np.ones(len(texts), np.int64)
        upper = pack(ones, ones, np.array(per_paper), texts=np.array(texts))
        return replace(pack(np.ones(1), np.ones(1, np.int64), np.ones(1, np.int64)), upper=upper)

    first, second = batch([3, 0, 3], [2, 1]), batch([0, 4, 1, 1], [4])
    expected = [set(map(int, read.upper.texts)) for read in (first, second)]
    states, found = pack_states(stored, first, second)
    assert stored.asked == [[0, 1, 3, 4]]
    of_rows = states.states[states.sentences.offsets[:-1].long(), 0]  # texts, by length
    assert of_rows.tolist() == [1, 0, 4, 3]
    for before, after, texts in zip((first, second), found, expected, strict=True):
        vectors = after.with_vectors(of_rows[:, None].float()).upper.vectors
        assert torch.equal(vectors[:, 0].long(), before.upper.texts)
        assert set(map(int, vectors[:, 0])) == texts
