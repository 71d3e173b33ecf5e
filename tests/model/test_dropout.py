import math

import pytest
import torch

from mpbert.model.dropout import Dropout


def _dropped(p, shape=(400, 301), dtype=torch.float32, seed=1):
    """Ones after dropout, and the gradient of their sum."""
    torch.manual_seed(seed)
    x = torch.ones(shape, dtype=dtype, requires_grad=True)
    found = Dropout(p)(x)
    found.sum().backward()
    return found.detach(), x.grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("p", [0.1, 0.25, 0.5, 0.9])
def test_values_are_dropped_with_their_probability_and_the_others_scaled_up(p, dtype):
    found, gradient = _dropped(p, dtype=dtype)
    assert found.dtype == dtype
    is_kept = found != 0
    scale = torch.tensor(1 / (1 - p), dtype=dtype)
    torch.testing.assert_close(found[is_kept], scale.expand(int(is_kept.sum())), rtol=5e-3, atol=0)
    deviation = math.sqrt(p * (1 - p) / found.numel())
    assert abs(float((~is_kept).double().mean()) - p) < 5 * deviation
    assert torch.equal(gradient, found)  # the gradient passes where the value does


def test_each_of_the_four_values_of_a_number_is_dropped_as_often_and_by_itself():
    found, _ = _dropped(0.3, (100_000, 4))
    is_dropped = (found == 0).double()
    assert (is_dropped.mean(dim=0) - 0.3).abs().max() < 0.01
    off = torch.corrcoef(is_dropped.T) - torch.eye(4)
    assert off.abs().max() < 0.02


def test_the_same_seed_drops_the_same_and_another_one_others():
    first, again, other = (_dropped(0.5, seed=seed)[0] for seed in (1, 1, 2))
    assert torch.equal(first, again) and not torch.equal(first, other)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1), (0, 5), (7, 3, 5)])
def test_all_shapes_are_kept(shape):
    found, gradient = _dropped(0.5, shape)
    assert found.shape == gradient.shape == shape


def test_nothing_is_dropped_outside_of_training_or_with_probability_0_and_all_with_1():
    x = torch.randn(50)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x
    assert not Dropout(1.0)(x).any()
