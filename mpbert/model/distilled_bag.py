"""An encoder of sentences becomes a token bag: an encoder directory that numpy alone reads."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mpbert.corpus.special_tokens import SPECIAL_TOKENS
from mpbert.foundation.errors import EncoderError
from mpbert.model.config import ROLES, STEP, BagConfig, Configuration, ModelConfig, ReadingConfig
from mpbert.model.description import TWO_TOWER, EncoderDescription
from mpbert.model.directory import save_encoder
from mpbert.pretrained.distilling import distilled
from mpbert.pretrained.sentence_encoder import SentenceEncoder

_CITING_WEIGHT = 3.0  # the citing sentence beside its neighbours and the title
_READING = ReadingConfig(
    manuscript_sentences=3,
    manuscript_abstract=1,  # the title
    body_sentences=0,
    dynamic=False,
    sentence_tokens=256,
)


def write_distilled(folder: Path, texts: Sequence[str], dim: int, out: Path) -> None:
    """Write a token bag that stands for an encoder into an existing directory, in float16.

    :param folder: of the encoder.
    :param texts: sentences that it reads; ``dim`` D of them at least.
    :param dim: D, dimensions of the vectors.
    :raises EncoderError: it is not usable, or has fewer dimensions.
    """
    encoder = SentenceEncoder(folder)
    if dim > min(encoder.dim, len(texts)):
        raise EncoderError(
            f"{folder}: found {encoder.dim} dimensions and {len(texts):,} sentences; expected "
            f"{dim} or more of both"
        )
    vectors, rows, ends = encoder.encode(texts), encoder.rows(texts), encoder.rows([""])
    is_special = np.isin(rows.items, ends.items)
    lengths = rows.lengths - len(ends.items)
    table, weights = distilled(
        *(encoder.encode_tokens(), vectors[lengths > 0]),
        *(rows.items[~is_special], lengths[lengths > 0], dim),
    )
    # of the separator of our sentences, too: a token that the encoder has not learnt
    table[[*ends.items, *range(len(SPECIAL_TOKENS))]] = 0
    model = ModelConfig(
        vocab_size=len(table),
        dim=dim,
        num_heads=1,
        sentence_layers=0,
        document_layers=0,
        decoder_layers=0,
        sentence_roles=True,
        bag=BagConfig(token_weights=True, sums=True),
    )
    description = EncoderDescription(TWO_TOWER, Configuration(model=model, reading=_READING))
    save_encoder(out, description, _state(table, weights), folder / "tokenizer.json")


def _state(table: np.ndarray, weights: np.ndarray) -> dict[str, Tensor]:
    roles = np.where(np.array(ROLES) == "citing", np.log(_CITING_WEIGHT) / STEP, 0.0)[:, None]
    dim = table.shape[1]
    tower = {
        "encoder.bag.embedding.weight": table / np.linalg.norm(table, axis=1).mean(),
        "encoder.bag.log_weights.weight": np.log(weights)[:, None] / STEP,
        "log_role_weights.weight": roles,
        "norm.weight": np.ones(dim),
        "norm.bias": np.zeros(dim),
    }
    return {
        f"{name}.{part}": torch.from_numpy(values).half()
        for name in ("manuscript", "citation")
        for part, values in tower.items()
    }
