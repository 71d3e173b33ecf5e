"""What an encoder directory says of itself, and its tokenizer: all that needs no torch.

``config.json`` holds the kind and the whole configuration of the training. Weights are read by
:mod:`mpbert.model.directory`, and those of a bag by :mod:`mpbert.model.bag_reader`.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from mpbert.foundation.errors import ConfigError, EncoderError
from mpbert.foundation.manifest import check_format, fingerprint
from mpbert.model.config import STACKED, Configuration, ModelConfig, ReadingConfig
from mpbert.model.configuration import from_nested

# kinds: what pretraining leaves, and after fine-tuning the two towers
PRETRAINED, LEVELS, DOCUMENT_LEVEL, TWO_TOWER = KIND_NAMES = (
    *("pretrained", "levels"),  # of own tokens
    "document-level",  # over the vectors of a pretrained encoder
    "two-tower",
)
FORMAT = 2
WEIGHTS = "model.safetensors"
SENTENCE_ENCODER = "sentence_encoder"  # folder of the pretrained encoder, if there is one
TUNED = "tuned_layers.safetensors"  # its last layers, where they were trained too
# what a file raises that is no JSON, or JSON of something else
_BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class EncoderDescription:
    """What ``config.json`` says.

    :param kind: one of ``KIND_NAMES``.
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

    @property
    def is_bag(self) -> bool:
        """Whether it is two towers of a token bag alone, without a level above or beside it."""
        sizes = self.model
        levels = sizes.sentence_layers + sizes.document_layers
        return self.kind == TWO_TOWER and sizes.upper.join == STACKED and not levels


def read_description(path: Path) -> EncoderDescription:
    """Return kind and configuration of an encoder directory.

    :raises EncoderError: there is no readable ``config.json`` of this format.
    """
    check_format(path)
    file = path / "config.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        found = content.pop("format")
        if found != FORMAT or content["kind"] not in KIND_NAMES:
            raise ValueError(f"format {found}, kind {content['kind']}")
        kind = content.pop("kind")
        return EncoderDescription(kind, from_nested(Configuration, content))
    except (*_BROKEN, ConfigError) as error:
        raise EncoderError(
            f"{file}: not readable as an encoder ({error}); expected an output of "
            f"mpbert export-encoder, format {FORMAT}"
        ) from error


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


def unreadable_weights(file: Path, error: Exception) -> EncoderError:
    """Return the error of a file of weights that is missing or damaged."""
    return EncoderError(f"{file}: unreadable ({error}); export the encoder again")


def wrong_weights(file: Path | str, reason: str) -> EncoderError:
    """Return the error of weights that are not those of the sizes."""
    return EncoderError(
        f"{file}: weights and sizes do not fit ({reason}); export the encoder again, with "
        f"the binary corpus that it was trained on"
    )
