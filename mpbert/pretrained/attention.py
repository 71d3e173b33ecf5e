"""Scaled dot-product attention (Vaswani et al., NIPS 2017, Sec. 3.2.1), the fastest way there is.

On a CPU and in bfloat16, torch's fused attention is slow backwards. For short rows the products of
the formula, one by one, take a third to a seventh of its time, and two thirds where there are no
gradients. Long rows with gradients are faster in float32. A GPU waits long between many small
calls: there one call takes rows of all lengths.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

_SHORT = 128  # elements of a row, whose weights lie in memory
_MULTIPLE = 8  # a head of the kernel of GPUs has a multiple of this many dimensions
_WIDEST = 256  # dimensions of such a head


def scaled_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    causal: bool = False,
) -> Tensor:
    """Return (M, H, S, D/H): what the queries of each row find among its keys, over all heads.

        softmax(q · kᵀ / √(D/H)) · v,   the softmax in float32

    :param queries: (M, H, S, D/H); ``keys`` and ``values`` (M, H, T, D/H), all of one type.
    :param mask: which keys may be seen, of a shape that spreads to (M, H, S, T); None: all.
    :param dropout: of the weights.
    :param causal: whether an element sees those before it alone; S is T then, and no mask given.
    """
    is_half = queries.device.type == "cpu" and queries.dtype == torch.bfloat16
    is_trained = torch.is_grad_enabled() and queries.requires_grad
    by_kernel = keys.shape[-2] > _SHORT or dropout > 0
    if not is_half or (by_kernel and not is_trained):
        return F.scaled_dot_product_attention(queries, keys, values, mask, dropout, causal)
    if by_kernel:
        with torch.autocast("cpu", enabled=False):
            parts = (part.float() for part in (queries, keys, values))
            return F.scaled_dot_product_attention(*parts, mask, dropout, causal).to(values.dtype)
    scores = (queries @ keys.transpose(-1, -2)).float() * queries.shape[-1] ** -0.5
    if causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1).to(values.dtype) @ values


def attend_at_once(qkv: Tensor, offsets: Tensor, longest: int, causal: bool = False) -> Tensor:
    """Return (N, D), what elements find in their rows, by one call for rows of all lengths.

    The kernel runs on GPUs alone. It takes half precision, and has no dropout. A head needs a
    multiple of 8 dimensions, so zeros fill it up.

    :param qkv: (N, 3, H, D/H) queries, keys and values of packed elements.
    :param offsets: (M + 1,) int32, row i owns elements ``offsets[i]`` to ``offsets[i + 1]``.
    :param longest: elements of the longest row.
    :param causal: whether an element sees those before it alone.
    """
    from torch.nn.attention.varlen import varlen_attn  # imports torch's compiler, two seconds

    size, window = qkv.shape[-1], (-1, 0) if causal else (-1, -1)
    lacking = -size % _MULTIPLE
    filled = F.pad(qkv, (0, lacking)) if lacking else qkv
    queries, keys, values = filled.unbind(1)  # each (N, H, D/H or more)
    found = varlen_attn(
        queries, keys, values, offsets, offsets, longest, longest,
        scale=size**-0.5,  # of the dimensions without those that fill up
        window_size=window,
    )  # fmt: skip
    return found[:, :, :size].flatten(1)


def takes_all_at_once(states: Tensor) -> bool:
    """Whether :func:`attend_at_once` takes these states, whose last axis is a head."""
    is_half = states.dtype in (torch.bfloat16, torch.float16)
    return states.is_cuda and is_half and states.shape[-1] <= _WIDEST
