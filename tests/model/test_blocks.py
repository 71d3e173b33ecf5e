import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from mpbert.model.blocks import (
    BlockConfig,
    DecoderBlock,
    EncoderBlock,
    RowAttention,
    attend,
    sinusoids,
)
from mpbert.model.packing import Rows
from mpbert.pretrained.attention import takes_all_at_once

CONFIG = BlockConfig(
    dim=8, ffn_dim=16, num_heads=2, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0
)
LENGTHS = np.array([1, 1, 3, 4, 4])


def attention_of_one_row(attention, x, causal):
    """Attention of one row (T, D) by the definition: a loop over heads, a softmax, no batch."""
    q, k, v = attention.qkv(x).split(8, dim=1)
    heads = []
    for h in range(2):
        part = slice(4 * h, 4 * h + 4)
        scores = q[:, part] @ k[:, part].T / math.sqrt(4)
        if causal:
            later = torch.ones_like(scores).triu(1).bool()
            scores = scores.masked_fill(later, float("-inf"))
        heads.append(scores.softmax(dim=1) @ v[:, part])
    return attention.out(torch.cat(heads, dim=1))


@pytest.fixture
def x():
    return torch.randn(int(LENGTHS.sum()), 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("causal", [False, True])
def test_packed_attention_equals_attention_row_by_row(x, causal):
    torch.manual_seed(1)
    attention = RowAttention(CONFIG, causal)
    found = attention(x, Rows.of(LENGTHS))
    rows = [attention_of_one_row(attention, row, causal) for row in x.split(LENGTHS.tolist())]
    assert torch.allclose(found, torch.cat(rows), atol=1e-6)


def test_encoder_block_is_post_norm_with_relu(x):
    torch.manual_seed(2)
    block, rows = EncoderBlock(CONFIG).eval(), Rows.of(LENGTHS)
    y = F.layer_norm(x + block.attention(x, rows), (8,))
    inner = F.relu(y @ block.feed_forward.inner.weight.T)
    expected = F.layer_norm(y + inner @ block.feed_forward.outer.weight.T, (8,))
    assert torch.allclose(block(x, rows), expected, atol=1e-5)


def test_decoder_block_adds_the_context_to_every_element_of_its_row(x):
    torch.manual_seed(3)
    block, rows = DecoderBlock(CONFIG).eval(), Rows.of(LENGTHS)
    context = torch.randn(len(LENGTHS), 8)
    y = F.layer_norm(x + block.attention(x, rows), (8,))
    y = F.layer_norm(y + context.repeat_interleave(torch.tensor(LENGTHS), dim=0), (8,))
    expected = F.layer_norm(y + block.feed_forward(y), (8,))
    assert torch.allclose(block(x, context, rows), expected, atol=1e-5)


def test_a_decoder_never_sees_later_elements(x):
    torch.manual_seed(4)
    block, rows = DecoderBlock(CONFIG).eval(), Rows.of(LENGTHS)
    changed = x.clone()
    changed[-1] += 1.0  # the last element of the last row
    context = torch.zeros(len(LENGTHS), 8)
    before, after = block(x, context, rows), block(changed, context, rows)
    assert torch.equal(before[:-1], after[:-1])
    assert not torch.allclose(before[-1], after[-1])


def test_dropout_acts_in_training_alone(x):
    config = BlockConfig(8, 16, 2, dropout=0.5, attention_dropout=0.5, activation_dropout=0.5)
    block, rows = EncoderBlock(config), Rows.of(LENGTHS)
    assert not torch.equal(block(x, rows), block(x, rows))
    block.eval()
    assert torch.equal(block(x, rows), block(x, rows))


def test_sinusoids_start_at_sine_0_and_cosine_0_and_fill_odd_sizes():
    table = sinusoids(4, 7)
    assert table.shape == (4, 7)
    assert table[0].tolist() == [0, 0, 0, 1, 1, 1, 0]
    assert table[2, 0].item() == pytest.approx(math.sin(2))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("size", [32, 25])  # the kernel takes multiples of 8
@pytest.mark.parametrize("causal", [False, True])
def test_one_call_for_all_rows_equals_one_call_per_length_on_a_gpu(causal, size):
    rows = Rows.of(LENGTHS).to(torch.device("cuda"))
    qkv = torch.randn(int(LENGTHS.sum()), 3, 2, size, device="cuda")
    assert takes_all_at_once(qkv.bfloat16())
    read = [qkv.bfloat16().requires_grad_(), qkv.requires_grad_()]
    at_once, by_length = (attend(each, rows, causal=causal).float() for each in read)
    assert torch.allclose(at_once, by_length, atol=0.03)
    gradients = torch.autograd.grad(at_once.sum() + by_length.sum(), read)
    assert torch.allclose(gradients[0].float(), gradients[1], atol=0.06)
