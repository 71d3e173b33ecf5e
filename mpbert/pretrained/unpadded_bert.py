"""A BERT that is not trained, on a CPU: rows of tokens one after another, without padding.

Rows of equal length are neighbours, so each group of them attends as one view. All other products
see all tokens at once, see :mod:`mpbert.pretrained.prepacked_linear`. Symbols: N tokens, M rows,
D dim, H heads, L tokens of each row of a group.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from transformers import BertModel

from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.foundation.ragged_rows import Ragged
from mpbert.pretrained.attention import scaled_attention
from mpbert.pretrained.prepacked_linear import PrepackedLinear


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
