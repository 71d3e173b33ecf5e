import numpy as np
import pytest
import torch

from mpbert.model.shares import ALONE, Processes, Share


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_each_item_has_one_process_and_costs_are_even(count):
    costs = np.random.default_rng(1).integers(1, 50, size=500)
    shares = [Processes(rank, count).share(costs) for rank in range(count)]
    assert len({share.sizes for share in shares}) == 1
    assert np.array_equal(np.concatenate([share.read for share in shares]), np.arange(500))
    sums = [costs[share.read].sum() for share in shares]
    assert max(sums) - min(sums) <= 2 * costs.max()


def test_a_process_without_an_item_reads_one_that_fills_its_batch():
    shares = [Processes(rank, 3).share(np.array([5.0, 5.0])) for rank in range(3)]
    assert sum(share.own for share in shares) == 2
    assert [len(share.read) for share in shares] == [1, 1, 1]
    empty = [share for share in shares if not share.own]
    assert len(empty) == 1
    assert empty[0].read.tolist() == [0]


def test_one_process_has_all_and_gathers_nothing():
    assert Processes.now() == ALONE
    share = ALONE.share(np.array([1, 2, 3]))
    assert share == Share((3,), 0)
    x, owners = torch.rand(3, 2), torch.tensor([0, 0, 2])
    assert share.gather(x) is x
    assert all(a is b for a, b in zip(share.gather_ragged(owners, x), (owners, x), strict=True))
