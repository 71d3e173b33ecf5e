"""Encoder directory: ``config.json``, ``model.safetensors``, ``tokenizer.json``.

What training leaves behind and everything later reads; no fairseq, no pickle. Kinds: after
pretraining one of the models of masked sentences, after fine-tuning the two towers. What needs no
torch stands in :mod:`mpbert.model.description`. ``modules.json`` makes it a model of
sentence-transformers too, see ``mpbert.model.sentence_transformer``.
"""

import dataclasses
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from mpbert.foundation.errors import EncoderError
from mpbert.model.description import (
    DOCUMENT_LEVEL,
    FORMAT,
    LEVELS,
    PRETRAINED,
    SENTENCE_ENCODER,
    TUNED,
    TWO_TOWER,
    WEIGHTS,
    EncoderDescription,
    read_description,
    unreadable_weights,
    wrong_weights,
)
from mpbert.model.encoder import LEXICAL, TOWERS, UPPER, TwoTower
from mpbert.model.masked_sentences import MaskedSentenceModel, MaskedVectorModel
from mpbert.pretrained.model_files import copy_model

KINDS: dict[str, type[nn.Module]] = {
    PRETRAINED: MaskedSentenceModel,
    LEVELS: MaskedVectorModel,
    DOCUMENT_LEVEL: MaskedVectorModel,
    TWO_TOWER: TwoTower,
}
_IN_TOWERS = (  # where the parts of pretrained levels stand in a tower
    ("bag.", "encoder.bag."),
    ("sentences.", "upper.sentences."),
    ("documents.", "upper.documents."),
)
_MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "mpbert.model.sentence_transformer.TwoTowerModule"}
]


def save_encoder(
    path: Path,
    description: EncoderDescription,
    state: dict[str, Tensor],
    tokenizer: Path,
    sentence_encoder: Path | None = None,
    tuned: Mapping[str, Tensor] | None = None,
) -> None:
    """Write an encoder into an existing directory.

    :param state: fits the model of this kind and these sizes.
    :param tokenizer: the ``tokenizer.json`` that its tokens come from.
    :param sentence_encoder: folder of the pretrained encoder whose vectors it reads, if any.
    :param tuned: weights of the last layers of that encoder, where they were trained too.
    """
    model = KINDS[description.kind](description.model)
    _fill(model, state, "checkpoint")  # refuse to write what cannot be loaded
    content = {"format": FORMAT, "kind": description.kind}
    content |= dataclasses.asdict(description.configuration)
    text = json.dumps(content, indent=1)
    (path / "config.json").write_text(text + "\n", encoding="utf-8")
    # copies: a file of safetensors has no tensor twice, as towers that share one do
    save_file({k: v.clone() for k, v in state.items()}, path / WEIGHTS)
    shutil.copyfile(tokenizer, path / "tokenizer.json")
    if sentence_encoder is not None:
        copy_model(sentence_encoder, path / SENTENCE_ENCODER)
    if tuned:
        save_file({k: v.contiguous() for k, v in tuned.items()}, path / TUNED)
    (path / "modules.json").write_text(json.dumps(_MODULES, indent=1) + "\n", encoding="utf-8")


def read_state(path: Path) -> dict[str, Tensor]:
    """Return the weights of an encoder directory.

    :raises EncoderError: ``model.safetensors`` is missing or damaged.
    """
    return _loaded(path / WEIGHTS)


def weights_under(state: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the weights whose names begin with a prefix, by the rest of these names."""
    return {k[len(prefix) :]: v for k, v in state.items() if k.startswith(prefix)}


def read_tuned(path: Path) -> dict[str, Tensor]:
    """Return the last layers of the pretrained encoder that an encoder directory holds.

    :raises EncoderError: they are missing or damaged.
    """
    return _loaded(path / TUNED)


def take_tuned(layers: nn.Module, path: Path) -> None:
    """Give the last layers of a pretrained encoder the weights that an encoder directory holds.

    :raises EncoderError: these are missing or damaged, or of other layers.
    """
    _fill(layers, read_tuned(path), str(path / TUNED))


def load_two_tower(path: Path, **changes: Any) -> TwoTower:
    """Return both towers; an encoder that was only pretrained gives two equal ones.

    :param changes: sizes that replace those of the saved configuration, such as ``dropout``; an
        encoder that was only pretrained may gain ``bag``, ``sentence_roles`` and ``shared_tokens``,
        and any may gain exact matches and levels beside the bag, which start as they do at random.
    :raises EncoderError: weights and sizes do not fit.
    """
    description = read_description(path)
    config = dataclasses.replace(description.model, **changes)
    model, state = TwoTower(config), read_state(path)
    source = str(path / WEIGHTS)
    if description.kind == PRETRAINED:
        for tower in (model.manuscript, model.citation):
            new = ("documents.roles.", "bag.log_weights.")
            _start(tower.encoder, weights_under(state, "encoder."), new, source)
    elif description.kind == LEVELS:
        found = {
            there + name: weights
            for here, there in _IN_TOWERS
            for name, weights in weights_under(state, here).items()
        }
        begun = tuple(there for _, there in _IN_TOWERS)
        for tower in (model.manuscript, model.citation):
            new = [k for k in tower.state_dict() if not k.startswith(begun)]
            new = (*new, "encoder.bag.log_weights.")
            _start(tower, found, new, source)
    else:
        new = []
        if description.model.lacks_levels_of(config):
            new += [f"{name}.{part}" for name in TOWERS for part in UPPER]
        if description.model.lacks_matches_of(config):
            new.append(LEXICAL)
        _start(model, state, tuple(new), source)
    return model


def take_document_level(model: TwoTower, path: Path) -> None:
    """Let the document levels of both towers start from one that was pretrained.

    :raises EncoderError: it is none, or reads vectors of another encoder, or its sizes differ.
    """
    description, upper = read_description(path), model.config.upper
    sha256 = description.model.upper.pretrained_sha256
    if description.kind != DOCUMENT_LEVEL or sha256 != upper.pretrained_sha256:
        raise EncoderError(
            f"{path}: found {description.kind} of the sentence vectors {sha256[:12] or 'of none'}; "
            f"expected a document level of those of {upper.pretrained_sha256[:12] or 'none'}: "
            f"give the output of mpbert pretrain with the same --sentence-vectors"
        )
    state = weights_under(read_state(path), "documents.")
    for tower in (model.manuscript, model.citation):
        if tower.upper.documents is None:
            raise EncoderError(f"{path}: the configuration has document_layers 0; expected more")
        _fill(tower.upper.documents, state, str(path / WEIGHTS))


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


def _loaded(file: Path) -> dict[str, Tensor]:
    try:
        return load_file(file)
    except (OSError, SafetensorError) as error:
        raise unreadable_weights(file, error) from error


def _start(module: nn.Module, state: dict[str, Tensor], new: tuple[str, ...], source: str) -> None:
    """Fill a module; what begins with one of these names stays as it starts."""
    own = {k: v for k, v in module.state_dict().items() if k.startswith(new)} if new else {}
    _fill(module, {**own, **state}, source)


def _fill(module: nn.Module, state: dict[str, Tensor], source: str) -> None:
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        raise wrong_weights(source, " ".join(str(error).split())[:200]) from error
