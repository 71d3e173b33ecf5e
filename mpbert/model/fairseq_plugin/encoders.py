"""From a configuration to an encoder directory: what pretraining and fine-tuning share."""

import logging
from pathlib import Path

from mpbert.foundation.errors import EncoderError
from mpbert.foundation.manifest import check_inputs, is_finished, output_directory
from mpbert.model.config import LEVEL_SIZES, STACKED, ModelConfig
from mpbert.model.fairseq_plugin.training import Training, is_first_process

logger = logging.getLogger(__name__)


def train_encoder(training: Training, output: Path, config: object, processes: int) -> None:
    """Train and write the encoder directory, unless it is there.

    Started by ``torch.distributed.run``, every process trains and the first one writes.

    :param config: the command's own, a dataclass, which is noted in the manifest.
    :raises MpbertError: an input is damaged, or the training failed.
    """
    from mpbert.model.fairseq_plugin.export import export_checkpoint  # torch takes seconds

    inputs = training.inputs
    if is_finished(output, training.stage, config, inputs):
        logger.info("%s: exists, reused", output)
        return
    check_inputs(inputs)
    if not is_first_process():
        training.run()
        return
    with output_directory(output, training.stage, config, inputs) as out:
        checkpoint = training.run(processes)
        out.counts |= export_checkpoint(checkpoint, training.data, out.path)
    logger.info("%s: encoder of %s parameters", output, f"{out.counts['parameters']:,}")


def check_start(init: Path, given: ModelConfig) -> None:
    """Check that a training has the sizes of the encoder that it starts from.

    :raises EncoderError: it has others, would lose the encoder's exact matches, or cannot start
        from an encoder of this kind.
    """
    from mpbert.model.description import DOCUMENT_LEVEL, LEVELS, read_description

    description = read_description(init)
    found = description.model
    if description.kind == DOCUMENT_LEVEL:
        raise EncoderError(
            f"{init}: found a document level alone; expected an encoder: give it as "
            f"--document-level, with its --sentence-vectors"
        )
    if description.kind == LEVELS and given.upper.join == STACKED:
        raise EncoderError(
            f"{init}: found levels beside the bag; expected join=added or join=concatenated in "
            f"the configuration, found {given.upper.join}"
        )
    if given.lacks_matches_of(found):
        raise EncoderError(
            f"{init}: counts exact matches of tokens, the configuration does not; expected the "
            f"same: --settings exact_matches=true"
        )
    tuned = found.upper.tuned_layers
    if tuned and tuned != given.upper.tuned_layers:
        raise EncoderError(
            f"{init}: found an encoder of sentences with {tuned} tuned layers, the configuration "
            f"has {given.upper.tuned_layers}; expected the same: --settings tuned_layers={tuned}"
        )
    for name in ("dim", *(() if found.lacks_levels_of(given) else LEVEL_SIZES)):
        if getattr(found, name) != getattr(given, name):
            raise EncoderError(
                f"{init}: found {name} {getattr(found, name)}, the configuration has "
                f"{getattr(given, name)}; expected the same: choose the encoder of this "
                f"configuration, or --settings {name}={getattr(found, name)}"
            )
