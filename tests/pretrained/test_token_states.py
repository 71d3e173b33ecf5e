"""Stored token states: what enters the last layers of an encoder."""

import shutil
from collections import namedtuple

import numpy as np
import pytest
import torch

from mpbert.cli import main
from mpbert.commands import embed_sentences
from mpbert.corpus.numbering import numbered_texts
from mpbert.foundation.errors import EncoderError, OutputError, VectorsError
from mpbert.pretrained import sentence_vectors, token_states
from mpbert.pretrained.sentence_encoder import SentenceEncoder
from mpbert.pretrained.sentence_vectors import SentenceVectors, numbers_of


def config(corpus, model, output, layers: int | None = 1):
    return embed_sentences.Config(
        corpus, model, output, tuned_layers=layers, device="cpu", precision="float32"
    )


@pytest.fixture(scope="module")
def made(rfc_corpus, small_encoder, tmp_path_factory):
    output = tmp_path_factory.mktemp("states") / "rfc"
    embed_sentences.run(config(rfc_corpus, small_encoder, output))
    return output


@pytest.mark.parametrize("layers", [1, 2])
def test_states_are_those_of_a_text_alone(layers, small_encoder, store):
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(small_encoder)
    model = AutoModel.from_pretrained(small_encoder)
    texts = ["", *store.titles[:15], *store.sentence_texts(np.arange(0, 2000, 100))]
    encoder = SentenceEncoder(small_encoder, torch.device("cpu"), batch_tokens=200)
    vectors, states = encoder.encode_with_states(texts, layers)
    np.testing.assert_array_equal(vectors, encoder.encode(texts))
    assert states.items.dtype == np.float16
    for text, first, last in zip(texts, states.offsets[:-1], states.offsets[1:], strict=True):
        tokens = tokenizer(text, truncation=True, max_length=24, return_tensors="pt")
        with torch.no_grad():
            found = model(**tokens, output_hidden_states=True).hidden_states[2 - layers][0]
        np.testing.assert_allclose(states.items[first:last], found.numpy(), atol=4e-3)


def test_a_store_has_the_states_of_each_text_beside_its_vector(made, small_encoder, store):
    found = SentenceVectors(made)
    assert found.tuned_layers == found.states.layers == 1
    numbers = numbers_of(store, found.parts)[::57]
    texts = found.texts_of(numbers)
    states, lengths = found.states.gather(texts), found.states.lengths(texts)
    encoder = SentenceEncoder(small_encoder, torch.device("cpu"))
    _, expected = encoder.encode_with_states(numbered_texts(store, numbers).to_pylist(), 1)
    assert np.array_equal(lengths, expected.lengths)
    np.testing.assert_allclose(states.astype(float), expected.items, atol=4e-3)
    assert states.shape == (lengths.sum(), 32)


def test_vectors_are_those_of_a_store_without_states(made, rfc_corpus, small_encoder, tmp_path):
    embed_sentences.run(config(rfc_corpus, small_encoder, tmp_path / "plain", None))
    for name in ("vectors.npy", "rows.npy"):
        assert (tmp_path / "plain" / name).read_bytes() == (made / name).read_bytes()
    plain = SentenceVectors(tmp_path / "plain")
    assert plain.states is None and plain.tuned_layers == 0
    assert not (tmp_path / "plain" / "states.npy").exists()


def test_a_killed_run_goes_on_where_it_was(made, rfc_corpus, small_encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(sentence_vectors, "BLOCK", 500)
    whole, calls = SentenceEncoder.encode_with_states, []

    def interrupted(self, texts, layers):
        calls.append(len(texts))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(self, texts, layers)

    monkeypatch.setattr(SentenceEncoder, "encode_with_states", interrupted)
    wanted = config(rfc_corpus, small_encoder, tmp_path / "killed")
    with pytest.raises(KeyboardInterrupt):
        embed_sentences.run(wanted)
    embed_sentences.run(wanted)
    assert sum(calls) == SentenceVectors(made).num_texts + 500  # the block that was killed again
    calls.extend([0] * 10)
    embed_sentences.run(config(rfc_corpus, small_encoder, tmp_path / "fresh"))
    for name in ("vectors", "states", "state_offsets"):
        found = (tmp_path / "killed" / f"{name}.npy").read_bytes()
        assert found == (tmp_path / "fresh" / f"{name}.npy").read_bytes()


def test_a_disk_without_room_is_told_before_anything_is_written(
    rfc_corpus, small_encoder, tmp_path, monkeypatch
):
    usage = namedtuple("usage", "free")(1000)
    monkeypatch.setattr(token_states.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OutputError, match=r"found 0.0 GB free; expected .* GB for the states of"):
        embed_sentences.run(config(rfc_corpus, small_encoder, tmp_path / "full"))
    parts = tmp_path / ".full.mpbert-parts"
    assert sorted(path.name for path in parts.iterdir()) == ["of.txt"]


def test_what_was_written_already_needs_no_more_room(tmp_path, monkeypatch):
    usage = namedtuple("usage", "free")(4000)
    monkeypatch.setattr(token_states.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OutputError):
        token_states.check_room(tmp_path, 1000, 32)
    np.save(tmp_path / "states.npy", np.ones((1000, 32), np.float16))
    token_states.check_room(tmp_path, 1000, 32)


def test_wrong_numbers_of_layers_are_refused(rfc_corpus, small_encoder, tmp_path, capsys):
    with pytest.raises(EncoderError, match=r"found 3 layers to train; expected no more than .* 2"):
        embed_sentences.run(config(rfc_corpus, small_encoder, tmp_path / "none", 3))
    words = [str(rfc_corpus), str(small_encoder), str(tmp_path / "none"), "--tuned-layers=0"]
    assert main(["embed-sentences", *words]) == 2
    assert "--tuned-layers 0; expected 1 or more" in capsys.readouterr().err


@pytest.mark.parametrize("broken", ["states", "state_offsets"])
def test_a_damaged_store_is_refused(broken, made, tmp_path):
    copy = shutil.copytree(made, tmp_path / "copy")
    np.save(copy / f"{broken}.npy", np.zeros((3, 32), np.float16)[:, :1])
    with pytest.raises(VectorsError, match="run mpbert embed-sentences again"):
        SentenceVectors(copy)
    (copy / f"{broken}.npy").unlink()
    with pytest.raises(VectorsError, match="expected an output of mpbert embed-sentences"):
        SentenceVectors(copy)
