import pytest
import torch
from torch import nn

pytestmark = pytest.mark.fairseq


def test_parameters_may_learn_slower_than_the_rest():
    from mpbert.model.fairseq_plugin.adam import FairseqAdamConfig, GroupedAdam

    slow, fast = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(3))
    slow.lr_factor = 0.1
    cfg = FairseqAdamConfig(lr=[0.5], adam_betas="(0.9, 0.999)", adam_eps=1e-8, weight_decay=0.0)
    optimizer = GroupedAdam(cfg, [slow, fast])
    optimizer.set_lr(0.2)
    assert optimizer.get_lr() == 0.2
    (slow.sum() + fast.sum()).backward()
    optimizer.step()
    assert torch.allclose(fast, torch.tensor(-0.2))  # Adam's first step is the learning rate
    assert torch.allclose(slow, torch.tensor(-0.02))
    assert len(list(optimizer.params)) == 2
