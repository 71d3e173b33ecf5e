"""A BERT whose lower layers stay as they are: their states of a text are made once, and kept.

Training then costs the upper layers alone. A row of token ids becomes a row of numbers, one for the
kept state of each token; rows of numbers are cut and joined as rows of tokens are. Parts that are
read apart meet in the upper layers (MacAvaney et al., Efficient Document Re-Ranking for
Transformers by Precomputing Term Representations, SIGIR 2020).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from mpbert.foundation.errors import EncoderError
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import ranges
from mpbert.foundation.ragged_rows import Ragged
from mpbert.pretrained.attention import scaled_attention
from mpbert.pretrained.encoder import PretrainedEncoder, length_batches
from mpbert.pretrained.texts import TextLayout
from mpbert.pretrained.unpadded_bert import UnpaddedBert

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Queries, keys and values, (..., D) each -> what the queries find, (..., D)."""
_SPECIAL = 2  # tokens of a text: the start and the end


def layer_above(
    layer: nn.Module, states: Tensor, attend: Attend, asking: Tensor | None = None
) -> Tensor:
    """Return the states above a layer of BERT, of tokens that lie in whatever shape.

    There is no dropout: a few epochs do not overfit.

    :param states: (..., D); ``attend`` says which of them see which.
    :param asking: (..., D) those whose states are made; None: all.
    """
    asking, attention = states if asking is None else asking, layer.attention
    found = attend(
        attention.self.query(asking), attention.self.key(states), attention.self.value(states)
    )
    found = attention.output.LayerNorm(attention.output.dense(found) + asking)
    above = layer.output.dense(layer.intermediate(found))
    return layer.output.LayerNorm(above + found)


def bert_layer(
    layer: nn.Module, states: Tensor, is_token: Tensor, only_first: bool = False
) -> Tensor:
    """Return the (B, T, D) states above a layer of BERT, or (B, 1, D) of the first tokens.

    :param states: (B, T, D); ``is_token`` (B, T).
    """

    def attend(*parts: Tensor) -> Tensor:
        heads = layer.attention.self.num_attention_heads
        by_head = [part.unflatten(2, (heads, -1)).transpose(1, 2) for part in parts]
        found = scaled_attention(*by_head, is_token[:, None, None, :])
        return found.transpose(1, 2).flatten(2)

    return layer_above(layer, states, attend, states[:, :1] if only_first else None)


def top_layers(bert: nn.Module, number: int) -> list[nn.Module]:
    """Return the last layers of a BERT, lowest first.

    :raises EncoderError: the model is no BERT, or has fewer layers.
    """
    if bert.config.model_type != "bert":
        raise EncoderError(
            f"found a {bert.config.model_type}; expected a BERT, whose lower layers can stay "
            f"as they are: choose another model, or train all layers"
        )
    layers = list(bert.encoder.layer)
    if number > len(layers):
        raise EncoderError(
            f"found {number} layers to train; expected no more than the model's {len(layers)}"
        )
    return layers[len(layers) - number :]


class FrozenLayers:
    """Texts read by the lower layers.

    :param encoder: a BERT with its tokenizer.
    :param upper: how many layers stand above.
    :raises EncoderError: the model is no BERT, or has fewer layers.
    """

    def __init__(self, encoder: PretrainedEncoder, upper: int) -> None:
        bert, self.encoder = encoder.body, encoder
        self.upper = top_layers(bert, upper)
        self._embeddings, self._lower = bert.embeddings, list(bert.encoder.layer)[:-upper]
        kept = torch.bfloat16 if encoder.bfloat16 else torch.float32
        self._kept = kept
        can_read = UnpaddedBert.can_read(bert, encoder.device)
        self._unpadded = UnpaddedBert(bert, kept, len(self._lower)) if can_read else None
        self._blocks: list[Tensor] = []  # of states; joined, they would be in memory twice
        self._tokens = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self._tokens)

    @torch.no_grad()
    def read(self, texts: Sequence[str], limit: int) -> Ragged:
        """Return the numbers of the states of texts, each with its special tokens.

        :param limit: most tokens of a text, special ones included.
        """
        layout = self.encoder.layout(limit, limit)
        tokens = self.encoder.tokenize(texts, max(limit - _SPECIAL, 1))
        rows = layout.rows(layout.ended(tokens))
        made = torch.empty(len(rows.items), self.encoder.dim, dtype=self._kept)
        parts = length_batches(rows.lengths, self.encoder.part_tokens)
        for part in progress(parts, "lower layers", "part"):
            of_part = rows.take(part)
            places = ranges(rows.offsets[:-1][part], of_part.lengths)
            made[torch.from_numpy(places)] = self._read(of_part).to(made)
        start = len(self)
        self._blocks.append(made)
        self._tokens = np.concatenate([self._tokens, rows.items])
        return Ragged(np.arange(start, len(self), dtype=np.int32), rows.offsets)

    def forget(self, number: int) -> None:
        """Drop the states and tokens of what was read last.

        :param number: how many tokens stay; as many as there were before some reading.
        :raises ValueError: there were never so many.
        """
        while self._blocks and len(self) > number:
            self._tokens = self._tokens[: len(self) - len(self._blocks.pop())]
        if len(self) != number:
            raise ValueError(f"{number} tokens do not end a reading, {len(self)} do")

    def tokens(self, rows: Ragged) -> Ragged:
        """Return the token ids of rows of numbers."""
        return Ragged(self._tokens[rows.items], rows.offsets)

    def batch(self, rows: Ragged) -> tuple[Tensor, Tensor]:
        """Return (B, T, D) states of rows of numbers and the mask of attention, on the device."""
        if rows.items.max(initial=-1) >= len(self):
            raise IndexError(f"found number {rows.items.max()}; {len(self)} states are kept")
        numbers, is_token = rows.padded(0)
        states, start = torch.empty(*numbers.shape, self.encoder.dim, dtype=self._kept), 0
        for block in self._blocks:
            ours = (numbers >= start) & (numbers < start + len(block))
            states[torch.from_numpy(ours)] = block[torch.from_numpy(numbers[ours] - start)]
            start += len(block)
        device = self.encoder.device
        return states.to(device), torch.from_numpy(is_token).to(device)

    def _read(self, rows: Ragged) -> Tensor:
        """Return the states of all tokens, row by row; rows ascend by length."""
        if self._unpadded is not None:
            return self._unpadded(rows)[1]
        tokens, is_token = self.encoder.batch(rows)
        with self.encoder.precision():
            states = self._embeddings(input_ids=tokens)
            for layer in self._lower:
                states = bert_layer(layer, states, is_token)
        return states[is_token]


class UpperLayers(nn.Module):
    """The layers that read kept states.

    :param layers: of a BERT, lowest first.
    :param config: of the whole model.
    """

    def __init__(self, layers: Sequence[nn.Module], config: object) -> None:
        super().__init__()
        self.layers, self.config = nn.ModuleList(layers), config

    def forward(self, states: Tensor, is_token: Tensor) -> Tensor:
        """Return (B, T, D) of (B, T, D) and (B, T)."""
        for layer in self.layers:
            states = bert_layer(layer, states, is_token)
        return states


class UpperEncoder(PretrainedEncoder):
    """Pooled states of the upper layers; its rows are of numbers, not of tokens.

    Training it changes the whole encoder's upper layers, which :meth:`save` writes with the rest.

    :param frozen: the layers below.
    """

    def __init__(self, frozen: FrozenLayers, pooling: str) -> None:
        whole = frozen.encoder
        self.frozen = frozen
        super().__init__(
            UpperLayers(frozen.upper, whole.body.config),
            whole.tokenizer,
            pooling,
            whole.batch_tokens,
            whole.bfloat16,
            whole.device,
        )

    def layout(self, paper_tokens: int, context_tokens: int) -> TextLayout:
        """Return how parts become rows: each has its special tokens already."""
        longest = self.frozen.encoder.longest
        return TextLayout(None, None, paper_tokens, context_tokens, longest)

    def tokenize(self, texts: Sequence[str], limit: int) -> Ragged:
        """Return the numbers of the states of texts, and of special tokens beside the limit."""
        return self.frozen.read(texts, limit + _SPECIAL)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Keep no states of the texts that the block tokenises."""
        before = len(self.frozen)
        try:
            yield
        finally:
            self.frozen.forget(before)

    def batch(self, rows: Ragged) -> tuple[Tensor, Tensor]:
        """Return (B, T, D) states and the mask of attention, on the device."""
        return self.frozen.batch(rows)

    def unpadded(self) -> None:
        """Return None: the layers are few, and change between two readings."""

    def save(self, directory: Path) -> None:
        """Write the whole model."""
        self.frozen.encoder.save(directory)

    def states_of(self, tokens: Tensor, is_token: Tensor) -> Tensor:
        """Return the (B, T, D) states above all layers of (B, T, D) kept ones."""
        return self.model(tokens, is_token)


def with_frozen_layers(encoder: PretrainedEncoder, trained: int) -> PretrainedEncoder:
    """Return an encoder of which the top layers alone are trained; the same if ``trained`` is 0.

    :raises EncoderError: it is no BERT, or has fewer layers.
    """
    return UpperEncoder(FrozenLayers(encoder, trained), encoder.pooling) if trained else encoder
