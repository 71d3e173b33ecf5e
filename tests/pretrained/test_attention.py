"""Attention in bfloat16 with gradients on a CPU: what the formula says, within bfloat16."""

import pytest
import torch
import torch.nn.functional as F

from mpbert.pretrained import attention
from mpbert.pretrained.attention import attend_at_once, scaled_attention


def plain(queries, keys, values, mask):
    scores = torch.einsum("mhsd,mhtd->mhst", queries, keys) / queries.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return torch.einsum("mhst,mhtd->mhsd", weights, values)


@pytest.mark.parametrize("short", [128, 3], ids=["in bfloat16", "too long for it"])
@pytest.mark.parametrize("kind", ["all", "masked", "causal", "one asks"])
def test_it_is_the_formula_with_its_gradients(kind, short, monkeypatch):
    monkeypatch.setattr(attention, "_SHORT", short)
    torch.manual_seed(1)
    parts = [torch.randn(3, 2, 6, 16).bfloat16().requires_grad_() for _ in range(3)]
    exact = [part.detach().double().requires_grad_() for part in parts]
    asked = slice(0, 1) if kind == "one asks" else slice(None)
    mask = torch.ones(3, 1, 1, 6, dtype=torch.bool)
    if kind == "masked":
        mask[0, ..., 2:] = mask[1, ..., 5:] = False
    seen = torch.ones(6, 6, dtype=torch.bool).tril() if kind == "causal" else mask
    given = mask if kind == "masked" else None
    found = scaled_attention(parts[0][:, :, asked], *parts[1:], given, causal=kind == "causal")
    expected = plain(exact[0][:, :, asked], *exact[1:], seen)
    assert found.dtype == torch.bfloat16
    assert torch.allclose(found.double(), expected, atol=0.02)
    towards = torch.randn_like(expected)
    found.backward(towards.bfloat16())
    expected.backward(towards)
    for part, of in zip(parts, exact, strict=True):
        assert torch.allclose(part.grad.double(), of.grad, atol=0.06)
        assert part.grad.abs().max() > 0.1


def test_short_rows_in_bfloat16_do_not_take_the_slow_way(monkeypatch):
    types = []
    fused = torch.nn.functional.scaled_dot_product_attention

    def noting(queries, *rest):
        types.append(queries.dtype)
        return fused(queries, *rest)

    monkeypatch.setattr(attention.F, "scaled_dot_product_attention", noting)
    parts = [torch.randn(1, 2, 6, 16).bfloat16().requires_grad_() for _ in range(3)]
    found = scaled_attention(*parts)
    with torch.no_grad():
        assert torch.equal(scaled_attention(*parts), found)
    assert not types
    monkeypatch.setattr(attention, "_SHORT", 3)
    scaled_attention(*parts)
    assert types == [torch.float32]


def test_in_float32_and_in_long_rows_without_gradients_it_is_what_torch_has(monkeypatch):
    monkeypatch.setattr(attention, "_SHORT", 5)
    torch.manual_seed(2)
    parts = [torch.randn(3, 2, 6, 16) for _ in range(3)]
    for given in (parts, [part.bfloat16() for part in parts]):
        known = torch.nn.functional.scaled_dot_product_attention(*given)
        assert torch.equal(scaled_attention(*given), known)


@pytest.mark.parametrize("size", [16, 25])
@pytest.mark.parametrize("causal", [False, True])
def test_heads_of_any_size_are_widened_for_the_kernel_of_a_gpu(kernel_of_a_gpu, size, causal):
    qkv = torch.randn(7, 3, 2, size, generator=torch.Generator().manual_seed(1))
    found = attend_at_once(qkv, torch.tensor([0, 2, 7], dtype=torch.int32), 5, causal)
    for row in (slice(0, 2), slice(2, 7)):
        parts = (part[row].transpose(0, 1) for part in qkv.unbind(1))
        expected = F.scaled_dot_product_attention(*parts, is_causal=causal)
        torch.testing.assert_close(found[row], expected.transpose(0, 1).flatten(1))
