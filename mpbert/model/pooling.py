"""Pooling over ragged rows: every element counts, since there is no padding."""

import torch
from torch import Tensor

from mpbert.model.packing import Rows


def sum_pool(x: Tensor, rows: Rows) -> Tensor:
    """Add up the vectors of each row: tokens of a sentence, or sentences of a paper.

    A paper as the sum of its sentence vectors: Zhang & Ma (WI-IAT 2021), Sec. 4.1.2.

    :param x: (N, D) vectors of the elements, packed.
    :returns: (M, D) float32, one vector a row: sums of 40 vectors need more than bfloat16.
    """
    sums = torch.zeros(len(rows.offsets) - 1, x.shape[1], device=x.device)
    return sums.index_add(0, rows.row, x.float())


def mean_pool(x: Tensor, rows: Rows) -> Tensor:
    """Sentence vectors as means of their token states, the separator included.

    Zhang & Ma (WI-IAT 2021), Sec. 4: mean pooling instead of the end-of-sentence state of HIBERT.

    :param x: (N, D) token states, packed.
    :returns: (M, D) float32, one vector a sentence, in packed order.
    """
    return sum_pool(x, rows) / rows.offsets.diff()[:, None]
