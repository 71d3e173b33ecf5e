"""From a checkpoint of fairseq to what an encoder directory holds; imports no fairseq."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mpbert.corpus.binary import BinaryCorpus
from mpbert.foundation.checksums import archive_is_whole
from mpbert.foundation.errors import EncoderError
from mpbert.foundation.manifest import fingerprint
from mpbert.model.config import FINETUNE, PRETRAIN
from mpbert.model.description import (
    DOCUMENT_LEVEL,
    LEVELS,
    PRETRAINED,
    TWO_TOWER,
    EncoderDescription,
)
from mpbert.model.directory import save_encoder, weights_under
from mpbert.model.fairseq_plugin.flags import configuration_of
from mpbert.pretrained.sentence_vectors import ENCODER, SentenceVectors

_TUNED = "tuned.layers."  # what the names of tuned layers begin with, beside those of the model
_KIND_OF_ARCH = {
    "mpbert_hibert": (PRETRAINED, PRETRAIN),
    "mpbert_document_level": (LEVELS, PRETRAIN),
    "mpbert_two_tower": (TWO_TOWER, FINETUNE),
}


def export_checkpoint(path: Path, data: Path, output: Path, half: bool = False) -> dict[str, int]:
    """Write the encoder of a checkpoint into an existing directory; return what it counts.

    :param data: binary corpus that it was trained on.
    :param half: whether weights are stored in float16; what loads them computes in float32.
    :raises EncoderError: the checkpoint is unreadable, or was trained with another tokenizer.
    """
    checkpoint = _read_checkpoint(path)
    corpus, noted = BinaryCorpus(data), checkpoint["task_state"]
    if noted["tokenizer"] != fingerprint(data / "tokenizer.json"):
        raise EncoderError(
            f"{path}: was trained with another tokenizer than that of {data}; expected the binary "
            f"corpus it was trained on, {checkpoint['cfg']['task']['data']}"
        )
    kind, stage = _KIND_OF_ARCH[checkpoint["cfg"]["model"]["_name"]]
    if kind == LEVELS and noted["model"]["upper"]["pretrained_dim"]:
        kind = DOCUMENT_LEVEL
    configuration = configuration_of(
        checkpoint["cfg"], stage, noted["model"], corpus.sentence_tokens
    )
    weights = checkpoint["model"]
    if half:
        weights = {k: v.half() if v.is_floating_point() else v for k, v in weights.items()}
    state, tuned = (weights_under(weights, prefix) for prefix in ("model.", _TUNED))
    description = EncoderDescription(kind, configuration)
    place = checkpoint["cfg"]["task"].get("sentence_vectors")
    vectors = SentenceVectors(Path(place)) if place else None
    encoder = vectors.path / ENCODER if vectors else None
    save_encoder(output, description, state, data / "tokenizer.json", encoder, tuned)
    return {
        "parameters": _num_parameters(checkpoint["model"]),
        "updates": checkpoint["optimizer_history"][-1]["num_updates"],
    }


def _num_parameters(state: dict[str, Tensor]) -> int:
    distinct = {value.data_ptr(): value.numel() for value in state.values()}  # towers may share
    return sum(distinct.values())


def _read_checkpoint(path: Path) -> dict[str, Any]:
    if path.is_file() and not archive_is_whole(path):
        raise EncoderError(
            f"{path}: found a damaged checkpoint; expected a whole one of mpbert training: export "
            f"another of its checkpoints, or train again"
        )
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises several kinds for a missing or damaged file
        reason = " ".join(str(error).split())[:200]
        raise EncoderError(
            f"{path}: unreadable ({reason}); expected a checkpoint of mpbert training"
        ) from error
    if not isinstance(checkpoint, dict):
        checkpoint = {}
    arch = ((checkpoint.get("cfg") or {}).get("model") or {}).get("_name")
    if arch not in _KIND_OF_ARCH:
        raise EncoderError(
            f"{path}: found a checkpoint of {arch!r}; expected one of {', '.join(_KIND_OF_ARCH)}"
        )
    if not {"model", "tokenizer"} <= (checkpoint.get("task_state") or {}).keys():
        raise EncoderError(
            f"{path}: found a checkpoint of an older version; expected one of this version: train "
            f"again"
        )
    return checkpoint
