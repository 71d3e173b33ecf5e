"""Lower layers that stay as they are: states of texts are made once."""

import numpy as np
import pytest
import torch

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import EncoderError
from mpbert.foundation.ragged_rows import joined
from mpbert.pretrained.encoder import PretrainedEncoder
from mpbert.pretrained.frozen_layers import FrozenLayers, UpperEncoder, with_frozen_layers
from mpbert.pretrained.models import load

TEXTS = [
    "the resource reservation protocol",
    "a packet",
    "routers forward packets of a reserved flow along the path",
]


@pytest.fixture(scope="module")
def whole(rfc_corpus):
    store = CorpusStore(rfc_corpus)
    model, tokenizer = load("random:3x64", "none", 1, 400, lambda: store.titles)
    return PretrainedEncoder(model, tokenizer, "mean", 4096, False)


def rows_of(encoder, texts, limit=32):
    layout = encoder.layout(limit, limit)
    return layout.rows(layout.ended(encoder.tokenize(texts, limit)))


@pytest.mark.parametrize("trained", [1, 2, 3])
def test_vectors_are_those_of_the_whole_model(whole, trained):
    upper = with_frozen_layers(whole, trained)
    expected = whole.embed(rows_of(whole, TEXTS))
    assert np.allclose(upper.embed(rows_of(upper, TEXTS)), expected, atol=1e-5)
    assert np.abs(expected).max() > 0.1


def test_texts_that_are_read_later_leave_the_earlier_ones(whole):
    upper = UpperEncoder(FrozenLayers(whole, 1), "mean")
    first = rows_of(upper, TEXTS)
    before = upper.embed(first)
    later = rows_of(upper, ["another text"])
    assert np.array_equal(upper.embed(first), before)
    assert later.items.min() == first.items.max() + 1
    assert upper.frozen.tokens(later).items[0] == whole.tokenizer.cls_token_id
    both = joined(first.take(np.array([0])), later)
    assert not np.allclose(upper.embed(both), before[:1], atol=1e-3)


def test_gradients_are_those_of_the_whole_models_upper_layers(whole):
    upper = with_frozen_layers(whole, 2)
    gradients = []
    for encoder in (whole, upper):
        whole.model.zero_grad()
        encoder(rows_of(encoder, TEXTS)).square().sum().backward()
        top = whole.model.encoder.layer[1:]
        gradients.append([p.grad.clone() for p in top.parameters()])
    lower = [*whole.model.encoder.layer[0].parameters(), *whole.model.embeddings.parameters()]
    assert all(p.grad is None or not p.grad.any() for p in lower)
    pairs = zip(*gradients, strict=True)
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in pairs)
    whole.model.zero_grad()


def test_training_changes_what_is_saved(whole, tmp_path, rfc_corpus):
    upper = with_frozen_layers(whole, 1)
    rows = rows_of(upper, TEXTS)
    with torch.no_grad():
        next(upper.model.parameters()).add_(0.05)
    upper.save(tmp_path)
    model, tokenizer = load(str(tmp_path), "none", 1, 400, list)
    again = PretrainedEncoder(model, tokenizer, "mean", 4096, False)
    assert np.allclose(again.embed(rows_of(again, TEXTS)), upper.embed(rows), atol=1e-5)
    with torch.no_grad():
        next(upper.model.parameters()).sub_(0.05)


def test_a_model_with_fewer_layers_is_refused(whole):
    with pytest.raises(EncoderError, match=r"found 4 layers to train; expected no more than .* 3"):
        FrozenLayers(whole, 4)


def test_a_model_that_is_no_bert_is_refused(whole):
    kind, whole.model.config.model_type = whole.model.config.model_type, "distilbert"
    try:
        with pytest.raises(EncoderError, match="found a distilbert; expected a BERT"):
            FrozenLayers(whole, 1)
    finally:
        whole.model.config.model_type = kind
