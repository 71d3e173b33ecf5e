"""States of a BERT without padding: those of Hugging Face's own classes, row by row."""

import copy
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

from mpbert.foundation.ragged_rows import Ragged
from mpbert.pretrained.encoder import PretrainedEncoder
from mpbert.pretrained.models import load
from mpbert.pretrained.unpadded_bert import PrepackedLinear, UnpaddedBert

SIZES = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 90}
LENGTHS = np.array([2, 2, 5, 7, 7, 7, 30])
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def bert():
    torch.manual_seed(1)
    return BertModel(BertConfig(num_hidden_layers=3, initializer_range=0.3, **SIZES)).eval()


@pytest.fixture(scope="module")
def rows():
    tokens = np.random.default_rng(1).integers(0, 90, size=LENGTHS.sum())
    return Ragged.of_lengths(tokens.astype(np.int32), LENGTHS)


def one_by_one(bert, rows, layer):
    """By the definition: a row at a time; states above so many layers."""
    states = []
    for row in np.split(rows.items, rows.offsets[1:-1]):
        with torch.no_grad():
            found = bert(torch.from_numpy(row[None]).long(), output_hidden_states=True)
        states.append(found.hidden_states[layer][0])
    return torch.cat(states)


@pytest.mark.parametrize(("dtype", "far"), [(torch.float32, 2e-5), (torch.bfloat16, 0.1)])
@pytest.mark.parametrize("above", [0, 1, 3])
def test_states_are_those_of_the_model(bert, rows, above, dtype, far):
    entered, last = UnpaddedBert(bert, dtype)(rows, above)
    assert entered.dtype == last.dtype == torch.float32
    assert torch.allclose(last, one_by_one(bert, rows, 3), atol=far)
    assert torch.allclose(entered, one_by_one(bert, rows, 3 - above), atol=far)


def test_the_lower_layers_alone_make_what_enters_the_others(bert, rows):
    _, last = UnpaddedBert(bert, torch.float32, 2)(rows)
    assert torch.allclose(last, one_by_one(bert, rows, 2), atol=2e-5)


@pytest.mark.parametrize("pooling", ["mean", "cls", "sum"])
def test_vectors_are_those_of_the_model_in_the_order_of_the_rows(bert, rows, pooling):
    encoder = PretrainedEncoder(bert, None, pooling, 40, False, CPU)
    mixed = rows.take(np.array([6, 0, 3, 1, 5, 2, 4]))
    found = encoder.embed(mixed)
    states = torch.split(one_by_one(bert, mixed, 3), mixed.lengths.tolist())
    pool = {"mean": lambda x: x.mean(0), "cls": lambda x: x[0], "sum": lambda x: x.sum(0)}[pooling]
    assert np.allclose(found, torch.stack([pool(x) for x in states]), atol=2e-4)


def test_weights_that_change_are_read_anew(bert, rows):
    encoder = PretrainedEncoder(bert, None, "mean", 1000, False, CPU)
    before, read = encoder.embed(rows), encoder.unpadded()
    assert encoder.unpadded() is read
    weight = bert.encoder.layer[1].output.dense.weight
    with torch.no_grad():
        weight.mul_(-1)
    after = encoder.embed(rows)
    with torch.no_grad():
        weight.mul_(-1)
    assert np.abs(after - before).max() > 0.1
    assert np.array_equal(encoder.embed(rows), before)


def test_what_a_training_changes_is_read_anew(bert, rows):
    encoder = PretrainedEncoder(copy.deepcopy(bert), None, "mean", 1000, False, CPU)
    before = encoder.embed(rows)
    optimizer = torch.optim.AdamW(encoder.model.parameters(), lr=0.1, fused=True)
    encoder.pool(*(torch.from_numpy(x) for x in rows.padded(0))).sum().backward()
    optimizer.step()  # says nothing to the versions of the weights
    after = encoder.embed(rows)
    exact = PretrainedEncoder(copy.deepcopy(encoder.model), None, "mean", 1000, False, CPU)
    assert np.array_equal(after, exact.embed(rows))
    assert np.abs(after - before).max() > 0.1


def test_a_model_of_another_kind_is_read_with_padding():
    torch.manual_seed(1)
    config = RobertaConfig(num_hidden_layers=2, pad_token_id=1, **SIZES)
    model = RobertaModel(config).eval()
    others = [
        BertModel(BertConfig(num_hidden_layers=1, **{name: value}, **SIZES))
        for name, value in (("hidden_act", "relu"), ("is_decoder", True))
    ]
    assert not any(UnpaddedBert.can_read(each, CPU) for each in (model, *others))
    assert not UnpaddedBert.can_read(BertModel(BertConfig(**SIZES)), torch.device("meta"))


def test_states_of_a_padded_reading_are_the_same(small_encoder, monkeypatch):
    model, tokenizer = load(str(small_encoder), "none", 1, 0, list)
    encoder = PretrainedEncoder(model, tokenizer, "mean", 1000, False, CPU)
    layout = encoder.layout(20, 20)
    texts = ["mail", "the host", "a route to the host that relays mail"]
    rows = layout.rows(layout.ended(encoder.tokenize(texts, 20)))
    assert encoder.unpadded() is not None
    unpadded = encoder.states(rows, 1)
    monkeypatch.setattr(UnpaddedBert, "can_read", lambda *_: False)
    for found, known in zip(encoder.states(rows, 1), unpadded, strict=True):
        assert torch.allclose(found, known, atol=2e-5)


@pytest.mark.parametrize("gelu", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_product_is_the_same_without_onednn(dtype, gelu, monkeypatch):
    torch.manual_seed(1)
    weight, bias, x = torch.randn(24, 16), torch.randn(24), torch.randn(50, 16)
    found = PrepackedLinear(weight, bias, dtype, gelu)(x)
    exact = torch.nn.functional.linear(x, weight, bias)
    exact = torch.nn.functional.gelu(exact) if gelu else exact
    far = 1e-5 if dtype == torch.float32 else 0.1
    assert found.dtype == dtype
    assert torch.allclose(found.float(), exact, atol=far)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    without = PrepackedLinear(weight, bias, dtype, gelu)(x)
    assert torch.allclose(without.float(), found.float(), atol=far)


def test_a_processor_without_products_in_bfloat16_multiplies_as_torch_does():
    code = (
        "import torch; from mpbert.pretrained.unpadded_bert import PrepackedLinear as P;"
        "w = torch.eye(64); print(P(w, torch.zeros(64), torch.bfloat16)(w).sum().item())"
    )
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    words = [sys.executable, "-c", code]
    found = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert found.stdout == "64.0\n", found.stderr[-2000:]
