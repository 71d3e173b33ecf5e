"""Pooling over ragged rows: every element counts, since there is no padding."""

import torch
from torch import Tensor

from mpbert.modeling.packing import Groups, split_groups


def mean_pool(x: Tensor, groups: Groups) -> Tensor:
    """Sentence vectors as means of their token states, the separator included.

    Zhang & Ma (WI-IAT 2021), Sec. 4: mean pooling instead of the end-of-sentence state of HIBERT.

    :param x: (N, D) token states, packed.
    :returns: (S, D), one vector a sentence, in packed order.
    """
    return torch.cat([part.mean(dim=1) for part in split_groups(x, groups)])


def sum_pool(x: Tensor, groups: Groups) -> Tensor:
    """Document vectors as sums of their sentence vectors: Zhang & Ma (WI-IAT 2021), Sec. 4.1.2.

    :param x: (S, D) sentence vectors, packed by paper.
    :returns: (B, D), one vector a paper, in packed order.
    """
    return torch.cat([part.sum(dim=1) for part in split_groups(x, groups)])
