"""Attention and pooling over rows of different lengths: by groups, and at once as on a GPU."""

import numpy as np
import torch

from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods import ragged_attention
from mpbert.methods.ragged_attention import (
    Elements,
    attended,
    weighted_means,
    weighted_means_at_once,
)

LENGTHS = np.array([3, 0, 1, 7, 3, 2])  # the second row has no element


def rows_of(lengths: np.ndarray) -> Elements:
    """Lay out rows of numbers."""
    items = np.random.default_rng(1).integers(9, size=lengths.sum())
    return Elements.of(Ragged(items, np.concatenate([[0], lengths.cumsum()])))


def test_rows_attended_at_once_are_as_those_group_by_group(kernel_of_a_gpu, monkeypatch):
    rows = rows_of(LENGTHS)
    projected = torch.randn(LENGTHS.sum(), 3, 2, 5, generator=torch.Generator().manual_seed(1))
    found, gradients = [], []
    for at_once in (False, True):
        monkeypatch.setattr(
            ragged_attention, "takes_all_at_once", lambda _, at_once=at_once: at_once
        )
        read = projected.clone().requires_grad_()
        found.append(attended(read, rows))
        gradients.append(torch.autograd.grad(found[-1].square().sum(), read)[0])
    assert found[0].shape == (16, 10)
    torch.testing.assert_close(found[1], found[0])
    torch.testing.assert_close(gradients[1], gradients[0])


def test_without_rows_nothing_attends(monkeypatch):
    monkeypatch.setattr(ragged_attention, "takes_all_at_once", lambda _: True)
    assert attended(torch.zeros(0, 3, 2, 5), rows_of(np.zeros(1, np.int64))).shape == (0, 10)


def test_rows_pooled_at_once_are_as_those_pooled_group_by_group():
    rows = rows_of(LENGTHS)
    generator = torch.Generator().manual_seed(1)
    scores = 200 * torch.randn(LENGTHS.sum(), 2, generator=generator)
    values = torch.randn(LENGTHS.sum(), 2, 3, generator=generator)
    found, gradients = [], []
    for pool in (weighted_means, weighted_means_at_once):
        read = [tensor.clone().requires_grad_() for tensor in (scores, values)]
        found.append(pool(*read, rows))
        gradients.append(torch.autograd.grad(found[-1].square().sum(), read))
    assert found[0].shape == (5, 6)
    torch.testing.assert_close(found[1], found[0])
    for at_once, by_group in zip(*reversed(gradients), strict=True):
        torch.testing.assert_close(at_once, by_group)


def test_one_value_of_a_row_is_its_mean_and_equal_scores_are_an_average():
    rows = rows_of(np.array([2, 1]))  # the row of one element comes first
    values = torch.tensor([[[5.0]], [[1.0]], [[3.0]]])
    for pool in (weighted_means, weighted_means_at_once):
        assert pool(torch.full((3, 1), 7.0), values, rows).tolist() == [[5.0], [2.0]]


def test_without_rows_nothing_is_pooled():
    rows = rows_of(np.zeros(2, dtype=np.int64))
    for pool in (weighted_means, weighted_means_at_once):
        assert pool(torch.zeros(0, 2), torch.zeros(0, 2, 3), rows).shape == (0, 6)
