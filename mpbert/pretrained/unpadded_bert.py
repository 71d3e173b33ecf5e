"""A BERT that is not trained, on a CPU: rows of tokens one after another, without padding.

Rows of equal length are neighbours, so each group of them attends as one view. All other products
see all tokens at once. Symbols: N tokens, M rows,
D dim, H heads, L tokens of each row of a group.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear
from transformers import BertModel

from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.foundation.ragged_rows import Ragged
from mpbert.pretrained.attention import scaled_attention

_ROWS = 1024  # of the products for which oneDNN chooses its order; others are as exact


class PrepackedLinear:
    """Maps (N, I) to (N, O): ``x · weightᵀ + bias``, of one precision, without gradients.

    torch lays the weights out anew in each product. oneDNN takes them in its own order, and adds
    the bias and GELU while the result is in the caches. torch's compiler uses the same functions.

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


class UnpaddedBert:
    """Makes the states that the model makes, to the rounding of sums.

    :param bert: one that :meth:`can_read` allows. Its weights are copied.
    :param dtype: of the products, float32 or bfloat16; the states between them are in float32.
    :param num_layers: how many of its layers, lowest first; None: all.
    """

    def __init__(self, bert: BertModel, dtype: torch.dtype, num_layers: int | None = None) -> None:
        self._bert, self._versions = bert, _versions(bert)
        self._layers = [_Layer(layer, dtype) for layer in bert.encoder.layer[:num_layers]]

    @staticmethod
    def can_read(model: nn.Module, device: torch.device) -> bool:
        """Return whether this class makes the states of a model."""
        if type(model) is not BertModel or model.config.is_decoder:
            return False
        return model.config.hidden_act == "gelu" and device.type == "cpu"

    def is_current(self) -> bool:
        """Return whether the model still has the weights that were copied."""
        return self._versions == _versions(self._bert)

    @torch.inference_mode()
    def __call__(self, rows: Ragged, above: int = 0) -> tuple[Tensor, Tensor]:
        """Return (N, D) float32 states that enter the last ``above`` layers, and the last states.

        :param rows: token ids, ascending by length, none empty.
        """
        places = ranges(np.zeros(len(rows)), rows.lengths)
        tokens, places = (torch.from_numpy(x.astype(np.int64)) for x in (rows.items, places))
        last = self._bert.embeddings(tokens[None], position_ids=places[None])[0]
        groups, lower = list(groups_of(rows.lengths)), len(self._layers) - above
        for layer in self._layers[:lower]:
            last = layer(last, groups)
        entered = last
        for layer in self._layers[lower:]:
            last = layer(last, groups)
        return entered, last


class _Layer:
    """One layer (Devlin et al., NAACL 2019, of Vaswani et al., NIPS 2017)."""

    def __init__(self, layer: nn.Module, dtype: torch.dtype) -> None:
        own, output = layer.attention.self, layer.attention.output
        self._heads = own.num_attention_heads
        parts = own.query, own.key, own.value
        weight = torch.cat([part.weight for part in parts])
        bias = torch.cat([part.bias for part in parts])
        self._qkv = PrepackedLinear(weight, bias, dtype)
        self._out = _prepacked(output.dense, dtype)
        self._norm = output.LayerNorm
        self._inner = _prepacked(layer.intermediate.dense, dtype, gelu=True)
        self._outer = _prepacked(layer.output.dense, dtype)
        self._last_norm = layer.output.LayerNorm

    def __call__(self, states: Tensor, groups: list[tuple[slice, int]]) -> Tensor:
        """Map (N, D) to (N, D)."""
        qkv = self._qkv(states)  # (N, 3 D)
        found = torch.empty(len(qkv), qkv.shape[1] // 3, dtype=qkv.dtype)
        for tokens, length in groups:
            view = qkv[tokens].view(-1, length, 3, self._heads, found.shape[1] // self._heads)
            queries, keys, values = view.permute(2, 0, 3, 1, 4)  # (rows, H, L, D/H) each
            mixed = scaled_attention(queries, keys, values).transpose(1, 2)  # (rows, L, H, D/H)
            found[tokens].view(mixed.shape).copy_(mixed)
        states = self._norm(self._out(found) + states)
        return self._last_norm(self._outer(self._inner(states)) + states)


def groups_of(lengths: np.ndarray) -> Iterator[tuple[slice, int]]:
    """Return the elements of all rows of a length, and that length, of (M,) ascending ones."""
    values, counts = np.unique(lengths, return_counts=True)
    ends = offsets_of(values * counts).tolist()
    for start, end, length in zip(ends[:-1], ends[1:], values.tolist(), strict=True):
        yield slice(start, end), length


def _prepacked(layer: nn.Linear, dtype: torch.dtype, gelu: bool = False) -> PrepackedLinear:
    return PrepackedLinear(layer.weight, layer.bias, dtype, gelu)


def _versions(model: nn.Module) -> list[tuple[int, int]]:
    """Return numbers that change when a weight does."""
    return [(weight.data_ptr(), weight._version) for weight in model.parameters()]
