"""``finetune``: binary corpus, a configuration and often a pretrained encoder -> two towers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.foundation.config import check_least, option, positional
from mpbert.model.config import FINETUNE
from mpbert.model.configuration import read_configuration, resolved_settings
from mpbert.model.fairseq_plugin.encoders import check_start, train_encoder
from mpbert.model.fairseq_plugin.training import Training
from mpbert.retrieval.options import known_option


@dataclass(frozen=True)
class Config:
    """Train manuscript and citation encoder on citations; a killed run goes on where it was."""

    data: Path = positional("data", "binary corpus to read")
    configuration: Path = positional(
        "configuration", "YAML file, such as finetune/configs/token_bag.yaml"
    )
    output: Path = positional("output", "encoder directory to write")
    init: Optional[Path] = option(
        None, "encoder to start from, pretrained or a trained bag; without it, random weights"
    )
    document_level: Optional[Path] = option(
        None, "document level to start from, made by mpbert pretrain --sentence-vectors"
    )
    sentence_vectors: Optional[Path] = option(
        None, "vectors made by mpbert embed-sentences, for levels beside the bag"
    )
    training: Optional[Path] = option(
        None, "directory of checkpoints, train.log and curves; without it, OUTPUT.training"
    )
    known: list[str] = known_option(
        "splits whose contexts train; those before the split that is asked, when all is chosen"
    )
    settings: list[str] = option(
        (),
        "settings to use instead of those of the configuration, such as objective=mpt-tgt",
        nargs="*",
    )
    processes: int = option(1, "processes that share each batch; the result is that of one process")

    def __post_init__(self) -> None:
        """Put all that is in force beside the given settings: a new default is a new output."""
        check_least(self, processes=1)
        made = read_configuration(self.configuration, FINETUNE, self.settings)
        object.__setattr__(self, "settings", resolved_settings(made, FINETUNE))


def run(config: Config) -> None:
    """Train, then write ``config.json``, ``model.safetensors`` and ``tokenizer.json``."""
    made = read_configuration(config.configuration, FINETUNE, config.settings)
    if config.init is not None:
        check_start(config.init, made.model)
    directory = config.training or config.output.with_name(config.output.name + ".training")
    training = Training(
        FINETUNE,
        config.data,
        made,
        directory,
        config.init,
        config.document_level,
        config.sentence_vectors,
        tuple(config.known),
    )
    train_encoder(training, config.output, config, config.processes)


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on; the settings are in force already."""
    return [config.data, *filter(None, _starts(config))]


def _starts(config: Config) -> list[Path | None]:
    return [config.init, config.document_level, config.sentence_vectors]
