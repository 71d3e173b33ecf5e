"""The model as it is published and run elsewhere: tensors padded to 30 sentences of 50 tokens.

Torch's own ``nn.TransformerEncoderLayer`` in float32, with the sizes and the work of
``mpbert.model``.
"""

import numpy as np
import torch
from torch import Tensor, nn

from mpbert.foundation.ragged import ranges, row_numbers
from mpbert.model.config import ModelConfig

SENTENCES, TOKENS = 30, 50


def cut(
    tokens: np.ndarray, lengths: np.ndarray, per_paper: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keep what both models read: 50 tokens of each of the first 30 sentences of a paper."""
    kept = ranges(np.zeros(len(per_paper)), per_paper) < SENTENCES
    is_read = kept[row_numbers(lengths)] & (ranges(np.zeros(len(lengths)), lengths) < TOKENS)
    return tokens[is_read], np.minimum(lengths, TOKENS)[kept], np.minimum(per_paper, SENTENCES)


def pad(tokens: np.ndarray, lengths: np.ndarray, per_paper: np.ndarray) -> tuple[Tensor, Tensor]:
    """Return (B, 30, 50) token ids and which are real."""
    sentence = row_numbers(lengths)
    paper = row_numbers(per_paper)
    place = ranges(np.zeros(len(per_paper)), per_paper)
    padded = np.zeros((len(per_paper), SENTENCES, TOKENS), dtype=np.int64)
    is_real = np.zeros(padded.shape, dtype=bool)
    where = paper[sentence], place[sentence], ranges(np.zeros(len(lengths)), lengths)
    padded[where], is_real[where] = tokens, True
    return torch.from_numpy(padded), torch.from_numpy(is_real)


def _layers(config: ModelConfig, number: int) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        config.dim, config.num_heads, config.ffn_dim, config.dropout, batch_first=True
    )
    return nn.TransformerEncoder(layer, number, enable_nested_tensor=False)


class PaddedEncoder(nn.Module):
    """Sentence encoder, mean, document encoder, on padded tensors."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.dim)
        self.sentence = _layers(config, config.sentence_layers)
        self.document = _layers(config, config.document_layers)

    def forward(self, tokens: Tensor, is_real: Tensor) -> Tensor:
        """Return (B, 30, D) from (B, 30, 50) tokens."""
        flat, real = tokens.flatten(0, 1), is_real.flatten(0, 1)
        real = real.clone()
        real[:, 0] = True  # a row without any element would be a softmax of nothing
        x = self.sentence(self.embedding(flat), src_key_padding_mask=~real)
        means = (x * real[:, :, None]).sum(1) / real.sum(1)[:, None]
        means = means.view(len(tokens), SENTENCES, -1)
        return self.document(means, src_key_padding_mask=~is_real.any(2))


class PaddedMaskedSentences(nn.Module):
    """HIBERT's pretraining on padded tensors; masked sentences alone are decoded."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.encoder = PaddedEncoder(config)
        self.decoder = _layers(config, config.decoder_layers)

    def forward(
        self, tokens: Tensor, is_real: Tensor, masked: Tensor, inputs: Tensor, is_input: Tensor
    ) -> Tensor:
        """Return (M, 50, V) logits.

        :param masked: (M,) number of each masked sentence among the B * 30.
        :param inputs: (M, 50) decoder inputs, of which ``is_input`` are real.
        """
        context = self.encoder(tokens, is_real).flatten(0, 1)[masked]
        x = self.encoder.embedding(inputs) + context[:, None]
        causal = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
        x = self.decoder(x, causal, ~is_input, is_causal=True)
        return x @ self.encoder.embedding.weight.T
