"""``pretrain``: binary corpus and a configuration -> pretrained encoder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.model.config import PRETRAIN, STACKED, ModelConfig
from mpbert.model.configuration import read_configuration, resolved_settings
from mpbert.model.fairseq_plugin.encoders import train_encoder
from mpbert.model.fairseq_plugin.training import Training


@dataclass(frozen=True)
class Config:
    """Train an encoder to guess masked sentences; a killed run goes on where it was."""

    data: Path = positional("data", "binary corpus to read")
    configuration: Path = positional("configuration", "such as pretrain/configs/tiny.yaml")
    output: Path = positional("output", "encoder directory to write")
    sentence_vectors: Optional[Path] = option(
        None, "of mpbert embed-sentences: pretrains a document level on them alone"
    )
    training: Optional[Path] = option(
        None, "directory of checkpoints, train.log and curves; without it, OUTPUT.training"
    )
    settings: list[str] = option(
        (), "what differs from the configuration, for example dim=256 lr=5e-4", nargs="*"
    )
    processes: int = option(1, "processes that train together, each with batches of its own")

    def __post_init__(self) -> None:
        """Put all that is in force beside the given settings: a new default is a new output."""
        check_least(self, processes=1)
        made = read_configuration(self.configuration, PRETRAIN, self.settings)
        object.__setattr__(self, "settings", resolved_settings(made, PRETRAIN))


def run(config: Config) -> None:
    """Train, then write ``config.json``, ``model.safetensors`` and ``tokenizer.json``."""
    made = read_configuration(config.configuration, PRETRAIN, config.settings)
    _check_vectors(made.model, config)
    directory = config.training or config.output.with_name(config.output.name + ".training")
    vectors = config.sentence_vectors
    training = Training(PRETRAIN, config.data, made, directory, sentence_vectors=vectors)
    train_encoder(training, config.output, config, config.processes)


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on; the settings are in force already."""
    return [config.data, *filter(None, [config.sentence_vectors])]


def _check_vectors(model: ModelConfig, config: Config) -> None:
    """Check that levels beside the bag, and they alone, guess sentence vectors.

    :raises ConfigError: they have no document level, or neither a sentence level nor vectors, or a
        decoder; or stacked levels were given vectors.
    """
    beside, given = model.upper.join != STACKED, config.sentence_vectors is not None
    lacks = not model.document_layers or not (given or model.sentence_layers)
    if (given and not beside) or (beside and lacks):
        raise ConfigError(
            f"{config.configuration}: found join {model.upper.join}, sentence_layers "
            f"{model.sentence_layers}, document_layers {model.document_layers} and "
            f"--sentence-vectors {config.sentence_vectors}; expected at least 1 document layer "
            f"and 1 sentence layer or sentence vectors with levels beside the bag, and no sentence "
            f"vectors with stacked levels"
        )
    if beside and model.decoder_layers:
        raise ConfigError(
            f"{config.configuration}: found decoder_layers {model.decoder_layers}; expected 0 with "
            f"levels beside the bag, which guess vectors of sentences and not their words"
        )
