"""Models of sentence-transformers, loaded without code or pickles and run on rows of tokens.

A name is what :mod:`mpbert.pretrained.models` takes. A folder that sentence-transformers
saved is used with all its layers; any other model gets mean pooling, as in Sentence-BERT (Reimers
and Gurevych, EMNLP 2019, Sec. 3).
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from torch import Tensor, nn

from mpbert.foundation.errors import EncoderError
from mpbert.pretrained import models as pretrained_models
from mpbert.pretrained.encoder import PretrainedEncoder
from mpbert.pretrained.folders import folder_of
from mpbert.pretrained.frozen_layers import with_frozen_layers

logging.getLogger("sentence_transformers").setLevel(logging.WARNING)  # as transformers' own


@dataclass
class SentenceTransformerEncoder(PretrainedEncoder):
    """A model of sentence-transformers in the place of a transformer with its pooling."""

    def __post_init__(self) -> None:
        self.model.to(self.device).eval()
        self.dim = self.model.get_embedding_dimension()

    @property
    def body(self) -> nn.Module:
        """The transformer without what stands above it."""
        return self.model[0].model

    @property
    def longest(self) -> int:
        """Most tokens that the model reads, special ones included."""
        return self.model.max_seq_length

    def pool(self, tokens: Tensor, is_token: Tensor) -> Tensor:
        """Return (B, D) float32 vectors of a batch."""
        with self.precision():
            found = self.model({"input_ids": tokens, "attention_mask": is_token.long()})
        return found["sentence_embedding"].float()

    def unpadded(self) -> None:
        """Return None: what stands above the transformer reads padded states."""

    def save(self, directory: Path) -> None:
        """Write a folder that sentence-transformers loads, and this method as ``model=``."""
        self.model.save_pretrained(str(directory), create_model_card=False)


def load(
    name: str, seed: int, vocab_size: int, texts: Callable[[], Sequence[str]]
) -> SentenceTransformer:
    """Return a model with its tokenizer, on the CPU.

    :param name: folder, name on the hub, or ``random:LAYERSxDIM``.
    :param seed: of random weights.
    :param vocab_size: of a random model; ``texts`` returns what its vocabulary is learnt from.
    :raises EncoderError: there is no such model, or it is not usable.
    """
    if not name.startswith("random:"):
        folder = folder_of(name)
        if (folder / "modules.json").is_file():
            return _load_saved(name, folder)
    model, tokenizer = pretrained_models.load(name, "none", seed, vocab_size, texts)
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        transformer = Transformer(folder, model_kwargs={"dtype": torch.float32})
    pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    return SentenceTransformer(modules=[transformer, pooling], device="cpu")


def encoder_of(
    model: SentenceTransformer, batch_tokens: int, bfloat16: bool, trained_layers: int
) -> PretrainedEncoder:
    """Return a model that runs on rows of tokens, or of numbers if its lower layers stay.

    :param trained_layers: top layers to train; 0: all.
    :raises EncoderError: some are to stay, but the model is no BERT with mean pooling.
    """
    modes = [module.pooling_mode for module in model if isinstance(module, Pooling)]
    if trained_layers and modes != ["mean"]:
        raise EncoderError(
            f"trained_layers={trained_layers}: found pooling {', '.join(modes)}; expected mean, or "
            f"--settings trained_layers=0"
        )
    whole = SentenceTransformerEncoder(model, model.tokenizer, "mean", batch_tokens, bfloat16)
    return with_frozen_layers(whole, trained_layers)


def _load_saved(name: str, folder: Path) -> SentenceTransformer:
    try:
        return SentenceTransformer(
            str(folder),
            device="cpu",
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True, "dtype": torch.float32},
        )
    except Exception as error:  # the library raises whatever its parts raise
        reason = " ".join(str(error).split())[:200]
        raise EncoderError(
            f"{name}: not loadable ({reason}); expected a model that sentence-transformers saved, "
            f"as safetensors and without code of its own"
        ) from error
