"""The token bag of an encoder that has levels beside it, as an encoder of its own."""

from dataclasses import replace
from pathlib import Path

from mpbert.model.config import UpperConfig
from mpbert.model.description import EncoderDescription
from mpbert.model.directory import read_state, save_encoder
from mpbert.model.encoder import UPPER


def save_bag_alone(encoder: Path, description: EncoderDescription, target: Path) -> None:
    """Write an encoder without its levels: its vectors are the bag's part of theirs.

    :param encoder: its directory; ``description`` says that its levels are concatenated.
    :param target: an existing directory.
    :raises EncoderError: the weights are missing or damaged.
    """
    sizes = replace(description.model, sentence_layers=0, document_layers=0, upper=UpperConfig())
    made = replace(description.configuration, model=sizes)
    state = {
        name: value
        for name, value in read_state(encoder).items()
        if not name.partition(".")[2].startswith(UPPER)
    }
    tokenizer = encoder / "tokenizer.json"
    save_encoder(target, EncoderDescription(description.kind, made), state, tokenizer)
