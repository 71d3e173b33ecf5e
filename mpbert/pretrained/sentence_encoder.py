"""Vectors of single sentences by an encoder of Hugging Face's library and its own pooling."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import normalize

from mpbert.foundation.errors import EncoderError
from mpbert.foundation.ragged import ranges
from mpbert.foundation.ragged_rows import Ragged
from mpbert.pretrained.device import trained_on
from mpbert.pretrained.encoder import PretrainedEncoder, length_batches
from mpbert.pretrained.frozen_layers import top_layers
from mpbert.pretrained.model_files import sha256_of_model
from mpbert.pretrained.models import load

BATCH_TOKENS = 4096
_CPU_TOKENS = 2048  # of a batch on a CPU: more leave its caches
_LAYERS = ("Transformer", "Pooling", "Normalize")  # of sentence-transformers, that are known here
_POOLINGS = ("cls", "mean")


class SentenceEncoder:
    """Makes vectors of length 1 of sentences; neither the others nor their order changes one.

    Batches move a vector by rounding alone: 1e-5 in float32, 1e-2 in bfloat16.

    :param folder: of the model, see :func:`mpbert.pretrained.folders.folder_of`.
    :param device: where it runs; None: the GPU where there is one.
    :param batch_tokens: most tokens of a batch, padding included: memory and speed, not results.
        On a CPU there are never more than 2,048.
    :param bfloat16: whether matrix products are in bfloat16.
    :raises EncoderError: there is no such model, or its vectors are made in a way unknown here.
    """

    def __init__(
        self,
        folder: Path,
        device: torch.device | None = None,
        batch_tokens: int = BATCH_TOKENS,
        bfloat16: bool = False,
    ) -> None:
        self.folder, self.pooling = folder, pooling_of(folder)
        self.model_sha256 = sha256_of_model(folder)
        device = device or trained_on()
        model, tokenizer = load(str(folder), "none", 0, 0, list)
        if device.type == "cpu":
            batch_tokens = min(batch_tokens, _CPU_TOKENS)
            # of rows as short as sentences, two products are faster than the fused kernel
            model.set_attn_implementation("eager")
        self._encoder = PretrainedEncoder(
            model, tokenizer, self.pooling, batch_tokens, bfloat16, device
        )
        said = _read(folder / "sentence_bert_config.json").get("max_seq_length")
        self.longest = min(said or self._encoder.longest, self._encoder.longest)

    @property
    def dim(self) -> int:
        """Dimensions E of a vector."""
        return self._encoder.dim

    def top_layers(self, number: int) -> nn.ModuleList:
        """Return the last layers, lowest first; a change of theirs changes the vectors.

        :raises EncoderError: the model is no BERT, or has fewer layers.
        """
        return nn.ModuleList(top_layers(self._encoder.body, number))

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return (K, E) float32 vectors of length 1; a text is cut at the model's most tokens."""
        return normalize(torch.from_numpy(self._encoder.embed(self.rows(texts))), dim=1).numpy()

    def encode_tokens(self) -> np.ndarray:
        """Return (V, E) float32 vectors of all tokens, each alone between the special ones."""
        ends = self.rows([""]).items
        tokens = np.arange(len(self._encoder.tokenizer), dtype=np.int32)
        items = np.stack([np.full_like(tokens, ends[0]), tokens, np.full_like(tokens, ends[-1])], 1)
        alone = Ragged.of_lengths(items.ravel(), np.full(len(tokens), 3))
        return self._encoder.embed(alone, "read tokens")

    @torch.inference_mode()
    def encode_with_states(self, texts: Sequence[str], layers: int) -> tuple[np.ndarray, Ragged]:
        """Return vectors as :meth:`encode`, and (N, E) float16 states of the tokens of each text.

        :param layers: last layers that the states enter.
        """
        rows, vectors = self.rows(texts), np.empty((len(texts), self.dim), dtype=np.float32)
        states = np.empty((len(rows.items), self.dim), dtype=np.float16)
        with self._encoder.precision():
            for part in length_batches(rows.lengths, self._encoder.batch_tokens):
                read = rows.take(part)
                entered, last = self._encoder.states(read, layers)
                pooled = self._encoder.pooled_rows(last, read.lengths)
                vectors[part] = normalize(pooled, dim=1).cpu().numpy()
                places = ranges(rows.offsets[:-1][part], read.lengths)
                states[places] = entered.half().cpu().numpy()
        return vectors, Ragged(states, rows.offsets)

    def rows(self, texts: Sequence[str]) -> Ragged:
        """Return token ids, the model's special ones included; a text itself holds none."""
        if not len(texts):
            return Ragged.of_lengths(np.zeros(0, np.int32), np.zeros(0, np.int64))
        found = self._encoder.tokenizer(
            list(texts),
            split_special_tokens=True,
            truncation=True,
            max_length=self.longest,
            return_attention_mask=False,
            return_token_type_ids=False,
        )["input_ids"]
        lengths = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        return Ragged.of_lengths(np.concatenate(found).astype(np.int32), lengths)


def pooling_of(folder: Path) -> str:
    """Return ``cls`` or ``mean``: what the files of sentence-transformers say; without any, mean.

    :raises EncoderError: they say something else.
    """
    layers = _read(folder / "modules.json", [])
    names = [str(layer.get("type", "")).rpartition(".")[2] for layer in layers]
    config = _read(folder / "1_Pooling" / "config.json")
    said = config.get("pooling_mode") or [
        name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for name, chosen in config.items()
        if name.startswith("pooling_mode_") and chosen is True
    ]
    said = [said] if isinstance(said, str) else said or ["mean"]
    if not set(names) <= set(_LAYERS) or len(said) > 1 or said[0] not in _POOLINGS:
        raise EncoderError(
            f"{folder}: found layers {', '.join(names) or 'none'} and pooling {', '.join(said)}; "
            f"expected no layers but {', '.join(_LAYERS)} and pooling cls or mean: choose another"
        )
    return said[0]


def _read(path: Path, without: Any = None) -> Any:
    """Return what a JSON file holds; ``without``, or an empty dictionary, where there is none."""
    without = {} if without is None else without
    if not path.is_file():
        return without
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise EncoderError(f"{path}: unreadable ({error}); copy the model again") from error
    if not isinstance(found, type(without)):
        raise EncoderError(f"{path}: found no {type(without).__name__}; copy the model again")
    return found
