"""A linear map whose weights are laid out once, for many products on a CPU.

torch lays the weights out anew in each product. oneDNN takes them in its own order, and adds the
bias and GELU while the result is in the caches. torch's compiler uses the same two functions.
"""

import torch
from torch import Tensor
from torch.nn.functional import gelu, linear

_ROWS = 1024  # of the products for which oneDNN chooses its order; others are as exact


class PrepackedLinear:
    """Maps (N, I) to (N, O): ``x · weightᵀ + bias``, of one precision, without gradients.

    :param weight: (O, I); ``bias`` (O,).
    :param dtype: of both factors and of what is returned: float32 or bfloat16.
    :param gelu: whether GELU follows (Hendrycks and Gimpel, 2016), by the error function.
    """

    def __init__(self, weight: Tensor, bias: Tensor, dtype: torch.dtype, gelu: bool = False):
        weight = weight.detach().to(dtype)
        self._bias, self._dtype, self._gelu = bias.detach().to(dtype), dtype, gelu
        self._is_laid_out = torch.backends.mkldnn.is_available() and (
            dtype != torch.bfloat16 or torch.ops.mkldnn._is_mkldnn_bf16_supported()
        )
        if self._is_laid_out:
            weight = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
        self._weight = weight

    def __call__(self, x: Tensor) -> Tensor:
        """Return (N, O)."""
        x = x.to(self._dtype)
        if not self._is_laid_out:
            found = linear(x, self._weight, self._bias)
            return gelu(found) if self._gelu else found
        after = ("gelu", [], "none") if self._gelu else ("none", [], "")
        return torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, *after)
