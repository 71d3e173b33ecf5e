"""``export-encoder``: fairseq checkpoint -> encoder directory, which needs no fairseq."""

import dataclasses
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpbert.corpus.binary import BinaryCorpus
from mpbert.foundation.archives import archive_is_whole
from mpbert.foundation.config import positional
from mpbert.foundation.errors import EncoderError
from mpbert.foundation.manifest import (
    check_inputs,
    fingerprint,
    is_finished,
    output_directory,
)

if TYPE_CHECKING:  # torch takes seconds to import, which --help need not wait for
    from mpbert.model.encoder import HierarchicalConfig

logger = logging.getLogger(__name__)
_KIND_OF_ARCH = {"mpbert_hibert": "pretrained", "mpbert_two_tower": "two-tower"}
_SIZES = ("dim", "ffn_dim", "num_heads", "sentence_layers", "document_layers")
_EXTRA = ("token_weights", "sentence_sums", "sentence_roles", "shared_tokens")
_DROPOUTS = ("dropout", "attention_dropout", "activation_dropout")
_SAMPLING = (
    "manuscript_sentences",
    "abstract_sentences",
    "body_sentences",
    "no_dynamic_sampling",
    "manuscript_abstract",
    "citing_sentences",
)


@dataclass(frozen=True)
class Config:
    """Turn a checkpoint of pretraining or fine-tuning into an encoder directory."""

    checkpoint: Path = positional("checkpoint", "checkpoint_best.pt or checkpoint_last.pt")
    data: Path = positional("data", "binary corpus it was trained on (for its tokenizer)")
    output: Path = positional("output", "encoder directory to write")


def run(config: Config) -> None:
    """Write ``config.json``, ``model.safetensors`` and ``tokenizer.json``."""
    from mpbert.model.directory import save_encoder

    inputs = [config.checkpoint, config.data]
    if is_finished(config.output, "export-encoder", config, inputs):
        logger.info("%s: exists, reused", config.output)
        return
    check_inputs(inputs)
    checkpoint = _read_checkpoint(config.checkpoint)
    arch, task = checkpoint["cfg"]["model"], checkpoint["cfg"]["task"]
    kind = _KIND_OF_ARCH[arch["_name"]]
    corpus = BinaryCorpus(config.data)
    trained_on = (checkpoint.get("task_state") or {}).get("tokenizer")
    if trained_on and trained_on != fingerprint(config.data / "tokenizer.json"):
        raise EncoderError(
            f"{config.checkpoint}: was trained with another tokenizer than that of {config.data}; "
            f"expected the binary corpus it was trained on, {task['data']}"
        )
    sizes = _sizes(arch, corpus.vocab_size)
    state = {name.removeprefix("model."): value for name, value in checkpoint["model"].items()}
    settings: dict[str, Any] = {"max_tokens": corpus.sentence_tokens}
    if kind == "two-tower":
        settings |= {name: task[name] for name in _SAMPLING}
        settings["objective"] = str(checkpoint["cfg"]["criterion"]["objective"])
    with output_directory(config.output, "export-encoder", config, inputs) as out:
        tokenizer = config.data / "tokenizer.json"
        save_encoder(out.path, kind, sizes, state, tokenizer, settings)
        distinct = {value.data_ptr(): value.numel() for value in state.values()}  # towers may share
        out.counts["parameters"] = sum(distinct.values())
        out.counts["updates"] = checkpoint["optimizer_history"][-1]["num_updates"]
    logger.info(
        "%s: %s encoder, %s parameters", config.output, kind, f"{out.counts['parameters']:,}"
    )


def _read_checkpoint(path: Path) -> dict[str, Any]:
    import torch

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
    return checkpoint


def _sizes(arch: dict[str, Any], vocab_size: int) -> "HierarchicalConfig":
    """Return the sizes of the model: of the encoder it started from, or as given by its flags."""
    from mpbert.model.directory import read_config
    from mpbert.model.encoder import HierarchicalConfig

    extra = {name: arch.get(name, False) for name in _EXTRA}
    if arch.get("init"):
        _, config, _ = read_config(Path(arch["init"]))
        return dataclasses.replace(config, dropout=arch["dropout"], decoder_layers=0, **extra)
    return HierarchicalConfig(
        vocab_size=vocab_size,
        decoder_layers=arch.get("decoder_layers", 0),
        **{name: arch[name] for name in (*_SIZES, *_DROPOUTS)},
        **extra,
    )
