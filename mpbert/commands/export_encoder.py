"""``export-encoder``: fairseq checkpoint -> encoder directory, which needs no fairseq."""

import logging
from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import option, positional
from mpbert.foundation.manifest import check_inputs, is_finished, output_directory

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    """Turn a checkpoint of pretraining or fine-tuning into an encoder directory."""

    checkpoint: Path = positional("checkpoint", "checkpoint_best.pt or checkpoint_last.pt")
    data: Path = positional("data", "binary corpus it was trained on (for its tokenizer)")
    output: Path = positional("output", "encoder directory to write")
    half: bool = option(False, "weights in float16: half the size, to be sent elsewhere")


def run(config: Config) -> None:
    """Write ``config.json``, ``model.safetensors`` and ``tokenizer.json``."""
    from mpbert.model.fairseq_plugin.export import export_checkpoint  # torch takes seconds

    inputs = [config.checkpoint, config.data]
    if is_finished(config.output, "export-encoder", config, inputs):
        logger.info("%s: exists, reused", config.output)
        return
    check_inputs(inputs)
    with output_directory(config.output, "export-encoder", config, inputs) as out:
        out.counts |= export_checkpoint(config.checkpoint, config.data, out.path, config.half)
    logger.info("%s: encoder of %s parameters", config.output, f"{out.counts['parameters']:,}")
