"""Encoder directory: ``config.json``, ``model.safetensors``, ``tokenizer.json``.

What training leaves behind and everything later reads; no fairseq, no pickle. Kinds: after
pretraining one of the models of masked sentences, after fine-tuning the two towers. ``config.json``
holds the whole configuration of the training. ``modules.json`` makes it a model of
sentence-transformers too, see ``mpbert.model.sentence_transformer``.
"""

import dataclasses
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from mpbert.foundation.errors import ConfigError, EncoderError
from mpbert.foundation.manifest import check_format, fingerprint
from mpbert.model.config import Configuration, ModelConfig, ReadingConfig
from mpbert.model.configuration import from_nested
from mpbert.model.encoder import LEXICAL, TOWERS, UPPER, TwoTower
from mpbert.model.format_1 import upgraded, upgraded_names
from mpbert.model.masked_sentences import MaskedSentenceModel, MaskedVectorModel
from mpbert.pretrained.model_files import copy_model

LEVELS, DOCUMENT_LEVEL = "levels", "document-level"
KINDS: dict[str, type[nn.Module]] = {
    "pretrained": MaskedSentenceModel,
    LEVELS: MaskedVectorModel,  # of own tokens
    DOCUMENT_LEVEL: MaskedVectorModel,  # over the vectors of a pretrained encoder
    "two-tower": TwoTower,
}
_IN_TOWERS = (  # where the parts of pretrained levels stand in a tower
    ("bag.", "encoder.bag."),
    ("sentences.", "upper.sentences."),
    ("documents.", "upper.documents."),
)
FORMAT = 2
SENTENCE_ENCODER = "sentence_encoder"  # folder of the pretrained encoder, if there is one

_MODULES = [
    {
        "idx": 0,
        "name": "0",
        "path": "",
        "type": "mpbert.model.sentence_transformer.TwoTowerModule",
    }
]


@dataclass(frozen=True)
class EncoderDescription:
    """What ``config.json`` says.

    :param kind: one of ``KINDS``.
    :param configuration: that of the training, with the sizes that the model has in truth.
    """

    kind: str
    configuration: Configuration

    @property
    def model(self) -> ModelConfig:
        """Sizes of the model."""
        return self.configuration.model

    @property
    def reading(self) -> ReadingConfig:
        """How the encoder was trained to read."""
        return self.configuration.reading


def save_encoder(
    path: Path,
    description: EncoderDescription,
    state: dict[str, Tensor],
    tokenizer: Path,
    sentence_encoder: Path | None = None,
) -> None:
    """Write an encoder into an existing directory.

    :param state: fits the model of this kind and these sizes.
    :param tokenizer: the ``tokenizer.json`` that its tokens come from.
    :param sentence_encoder: folder of the pretrained encoder whose vectors it reads, if any.
    """
    model = KINDS[description.kind](description.model)
    _fill(model, state, "checkpoint")  # refuse to write what cannot be loaded
    content = {"format": FORMAT, "kind": description.kind}
    content |= dataclasses.asdict(description.configuration)
    text = json.dumps(content, indent=1)
    (path / "config.json").write_text(text + "\n", encoding="utf-8")
    # copies: a file of safetensors has no tensor twice, as towers that share one do
    save_file({k: v.clone() for k, v in state.items()}, path / "model.safetensors")
    shutil.copyfile(tokenizer, path / "tokenizer.json")
    if sentence_encoder is not None:
        copy_model(sentence_encoder, path / SENTENCE_ENCODER)
    (path / "modules.json").write_text(json.dumps(_MODULES, indent=1) + "\n", encoding="utf-8")


def read_description(path: Path) -> EncoderDescription:
    """Return kind and configuration of an encoder directory of format 1 or 2.

    :raises EncoderError: there is no readable ``config.json`` of one of them.
    """
    check_format(path)
    return _read_description(path)[0]


def _read_description(path: Path) -> tuple[EncoderDescription, int]:
    file = path / "config.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        found = content.pop("format")
        if found not in (1, FORMAT) or content["kind"] not in KINDS:
            raise ValueError(f"format {found}, kind {content['kind']}")
        content = upgraded(content) if found == 1 else content
        kind = content.pop("kind")
        content.pop("format", None)
        return EncoderDescription(kind, from_nested(Configuration, content)), found
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise EncoderError(
            f"{file}: not readable as an encoder ({error}); expected an output of "
            f"mpbert export-encoder, format 1 or {FORMAT}"
        ) from error


def read_state(path: Path) -> dict[str, Tensor]:
    """Return the weights of an encoder directory, with the names of today.

    :raises EncoderError: ``model.safetensors`` is missing or damaged.
    """
    file = path / "model.safetensors"
    try:
        state = load_file(file)
    except (OSError, SafetensorError) as error:
        raise EncoderError(f"{file}: unreadable ({error}); export the encoder again") from error
    return upgraded_names(state) if _read_description(path)[1] == 1 else state


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
    source = str(path / "model.safetensors")
    if description.kind == "pretrained":
        for tower in (model.manuscript, model.citation):
            new = ("documents.roles.", "bag.log_weights.")
            _start(tower.encoder, _under(state, "encoder."), new, source)
    elif description.kind == LEVELS:
        found = {there + k: v for here, there in _IN_TOWERS for k, v in _under(state, here).items()}
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
    state = _under(read_state(path), "documents.")
    for tower in (model.manuscript, model.citation):
        if tower.upper.documents is None:
            raise EncoderError(f"{path}: the configuration has document_layers 0; expected more")
        _fill(tower.upper.documents, state, str(path / "model.safetensors"))


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


def _start(module: nn.Module, state: dict[str, Tensor], new: tuple[str, ...], source: str) -> None:
    """Fill a module; what begins with one of these names stays as it starts."""
    own = {k: v for k, v in module.state_dict().items() if k.startswith(new)} if new else {}
    _fill(module, {**own, **state}, source)


def _fill(module: nn.Module, state: dict[str, Tensor], source: str) -> None:
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200]
        raise EncoderError(
            f"{source}: weights and sizes do not fit ({reason}); export the encoder again, with "
            f"the binary corpus that it was trained on"
        ) from error
