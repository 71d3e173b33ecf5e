"""Encoder directory: ``config.json``, ``model.safetensors``, ``tokenizer.json``.

What training leaves behind and everything later reads; no fairseq, no pickle. Two kinds: after
pretraining the masked-sentence model, after fine-tuning the two towers. ``modules.json`` makes it a
model of sentence-transformers too, see ``mpbert.model.sentence_transformer``.
"""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from mpbert.foundation.errors import EncoderError
from mpbert.foundation.manifest import check_format, fingerprint
from mpbert.model.encoder import HierarchicalConfig, MaskedSentenceModel, TwoTower
from mpbert.model.sampling import SamplingConfig

KINDS: dict[str, type[nn.Module]] = {"pretrained": MaskedSentenceModel, "two-tower": TwoTower}

_MODULES = [
    {
        "idx": 0,
        "name": "0",
        "path": "",
        "type": "mpbert.model.sentence_transformer.TwoTowerModule",
    }
]


def save_encoder(
    path: Path,
    kind: str,
    config: HierarchicalConfig,
    state: dict[str, Tensor],
    tokenizer: Path,
    settings: dict[str, Any],
) -> None:
    """Write an encoder into an existing directory.

    :param kind: ``pretrained`` or ``two-tower``; ``state`` fits the model of this kind.
    :param tokenizer: the ``tokenizer.json`` that its tokens come from.
    :param settings: what a reader must know to embed as trained: ``max_tokens`` of a sentence,
        the sampling, the objective.
    """
    _fill(KINDS[kind](config), state, "checkpoint")  # refuse to write what cannot be loaded
    text = json.dumps(
        {"format": 1, "kind": kind, "model": dataclasses.asdict(config), "settings": settings},
        indent=1,
    )
    (path / "config.json").write_text(text + "\n", encoding="utf-8")
    # copies: a file of safetensors has no tensor twice, as towers that share one do
    save_file({k: v.clone() for k, v in state.items()}, path / "model.safetensors")
    shutil.copyfile(tokenizer, path / "tokenizer.json")
    (path / "modules.json").write_text(json.dumps(_MODULES, indent=1) + "\n", encoding="utf-8")


def read_config(path: Path) -> tuple[str, HierarchicalConfig, dict[str, Any]]:
    """Return kind, sizes and settings of an encoder directory.

    :raises EncoderError: there is no readable ``config.json`` of format 1.
    """
    file = path / "config.json"
    check_format(path)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["format"] != 1 or content["kind"] not in KINDS:
            raise ValueError(f"format {content['format']}, kind {content['kind']}")
        return content["kind"], HierarchicalConfig(**content["model"]), content["settings"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EncoderError(
            f"{file}: not readable as an encoder ({error}); expected an output of "
            f"mpbert export-encoder, format 1"
        ) from error


def read_state(path: Path) -> dict[str, Tensor]:
    """Return the weights of an encoder directory.

    :raises EncoderError: ``model.safetensors`` is missing or damaged.
    """
    file = path / "model.safetensors"
    try:
        return load_file(file)
    except (OSError, SafetensorError) as error:
        raise EncoderError(f"{file}: unreadable ({error}); export the encoder again") from error


def sampling_of(settings: dict[str, Any]) -> SamplingConfig:
    """Return how an encoder was trained to read; the paper's way if it was only pretrained."""
    if "manuscript_sentences" not in settings:
        return SamplingConfig()
    return SamplingConfig(
        settings["manuscript_sentences"],
        settings["abstract_sentences"],
        settings["body_sentences"],
        not settings["no_dynamic_sampling"],
        settings.get("manuscript_abstract", 0),  # encoders of the first release have neither
        settings.get("citing_sentences", 0),
    )


def load_two_tower(path: Path, **changes: Any) -> TwoTower:
    """Return both towers; an encoder that was only pretrained gives two equal ones.

    :param changes: sizes that replace those of the saved configuration, such as ``dropout``; an
        encoder that was only pretrained may gain ``token_weights``, ``sentence_sums``,
        ``sentence_roles`` and ``shared_tokens``.
    :raises EncoderError: weights and sizes do not fit.
    """
    kind, config, _ = read_config(path)
    config = dataclasses.replace(config, **changes)
    model, state = TwoTower(config), read_state(path)
    if kind == "pretrained":
        for tower in (model.manuscript, model.citation):
            new = ("roles.", "log_weights.")  # pretraining has none: they stay as they start
            own = {k: v for k, v in tower.encoder.state_dict().items() if k.startswith(new)}
            found = {**own, **_under(state, "encoder.")}
            _fill(tower.encoder, found, str(path / "model.safetensors"))
    else:
        _fill(model, state, str(path / "model.safetensors"))
    return model


def read_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer of an encoder or a binary corpus.

    :raises EncoderError: ``tokenizer.json`` is missing or no tokenizer.
    """
    file = path / "tokenizer.json"
    try:
        return Tokenizer.from_str(file.read_text(encoding="utf-8"))
    except Exception as error:  # tokenizers raises nothing narrower
        raise EncoderError(f"{file}: no tokenizer ({error}); export the encoder again") from error


def check_same_tokenizer(encoder: Path, data: Path) -> None:
    """Check that an encoder reads the token ids of a binary corpus.

    :raises EncoderError: their tokenizers differ.
    """
    if fingerprint(encoder / "tokenizer.json") != fingerprint(data / "tokenizer.json"):
        raise EncoderError(
            f"{encoder}: was trained with another tokenizer than that of {data}; train an encoder "
            f"on this corpus, or choose the corpus it was trained on"
        )


def pick_device(name: str) -> torch.device:
    """Return a device; ``auto`` is the GPU where there is one.

    :raises EncoderError: it is neither CPU nor CUDA, or CUDA is asked for and absent.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise EncoderError(f"--device {name}: unknown; expected auto, cpu or cuda")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise EncoderError(f"--device {name}: this machine has no CUDA device; use --device cpu")
    return device


def _under(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k[len(prefix) :]: v for k, v in state.items() if k.startswith(prefix)}


def _fill(module: nn.Module, state: dict[str, Tensor], source: str) -> None:
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200]
        raise EncoderError(
            f"{source}: weights and sizes do not fit ({reason}); export the encoder again, with "
            f"the binary corpus that it was trained on"
        ) from error
