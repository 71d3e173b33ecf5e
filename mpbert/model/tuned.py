"""The last layers of a pretrained sentence encoder, trained together with the document level.

The layers below stay as they are: their token states are stored once, see
:mod:`mpbert.pretrained.token_states`, and an update costs the layers above alone. Nothing is
padded. Symbols: N tokens, M distinct sentences, E dim of the states and vectors.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from mpbert.model.blocks import attend
from mpbert.model.packed_states import PackedStates
from mpbert.model.packing import Rows
from mpbert.model.pooling import mean_pool
from mpbert.pretrained.frozen_layers import layer_above
from mpbert.pretrained.sentence_encoder import SentenceEncoder
from mpbert.pretrained.sentence_vectors import SentenceVectors

_AT_ONCE = 4096  # tokens whose states are held at once; for gradients they are made again


class TunedLayers(nn.Module):
    """From token states to vectors of sentences, as the whole encoder makes them.

    :param encoder: whose last layers these are; they are trained in its place.
    :param number: how many.
    :raises EncoderError: it is no BERT, or has fewer layers.
    """

    def __init__(self, encoder: SentenceEncoder, number: int) -> None:
        super().__init__()
        self.layers, self._pooling = encoder.top_layers(number), encoder.pooling
        self.dim = encoder.dim

    def forward(self, packed: PackedStates) -> Tensor:
        """Return (M, E) float32 vectors of length 1, in packed order."""
        parts = packed.sentences.parts(_AT_ONCE)
        if len(parts) == 1:
            return self._vectors(packed.states, packed.sentences)
        made = [
            checkpoint(self._vectors, packed.states[part], rows, use_reentrant=False)
            for part, rows in parts
        ]
        return torch.cat(made) if made else packed.states.new_zeros(0, self.dim).float()

    def _vectors(self, states: Tensor, rows: Rows) -> Tensor:
        x = states.float()
        for layer in self.layers:
            heads = layer.attention.self.num_attention_heads

            def attend_rows(*parts: Tensor, heads: int = heads) -> Tensor:
                return attend(torch.stack(parts, 1).unflatten(2, (heads, -1)), rows)

            x = layer_above(layer, x, attend_rows)
        is_mean = self._pooling == "mean"
        pooled = mean_pool(x, rows) if is_mean else x.index_select(0, rows.offsets[:-1]).float()
        return F.normalize(pooled, dim=1)


class TunedVectors:
    """Vectors of the sentences of a corpus by tuned layers; each is made when it is first read.

    :param stored: with the token states of as many layers.
    """

    def __init__(self, stored: SentenceVectors, layers: TunedLayers) -> None:
        self._stored, self._layers = stored, layers.eval()
        self._vectors = np.zeros((stored.num_texts, stored.dim), dtype=np.float32)
        self._is_made = np.zeros(stored.num_texts, dtype=bool)
        self._device = next(layers.parameters()).device

    @torch.inference_mode()
    def gather(self, sentences: np.ndarray) -> np.ndarray:
        """Return (K, E) float32 vectors of (K,) sentence numbers.

        :raises CorpusError: a sentence has no states.
        """
        texts = self._stored.texts_of(sentences)
        new = np.unique(texts[~self._is_made[texts]])
        if len(new):
            packed, order = PackedStates.of(self._stored.states, new)
            found = self._layers(packed.to(self._device))
            self._vectors[new[order]] = found.cpu().numpy()
            self._is_made[new] = True
        return self._vectors[texts]
