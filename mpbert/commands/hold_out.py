"""``hold-out``: corpus store -> a store in which a part of the training papers is for testing."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import is_reused, output_directory


@dataclass(frozen=True)
class Config:
    """Hold out a part of the training papers, to rank for them by what the others teach."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "corpus store to write, a new directory")
    part: int = option(1, "which part, from 1")
    parts: int = option(3, "how many parts the training papers are dealt out to")

    def __post_init__(self) -> None:
        if not (self.parts >= 2 and 1 <= self.part <= self.parts):
            raise ConfigError(
                f"--part {self.part} --parts {self.parts}; expected 2 parts or more, and one of "
                f"them: --part 1 to --part {max(self.parts, 2)}"
            )


def run(config: Config) -> None:
    """Write the store; print how much is held out.

    :raises CorpusError: there is nothing to hold out, or nothing is left.
    """
    from mpbert.corpus.parts import COMMAND, write_part
    from mpbert.corpus.store import CorpusStore

    inputs = inputs_of(config)
    if is_reused(config.output, COMMAND, config, inputs):
        return
    store = CorpusStore(config.corpus)
    with output_directory(config.output, COMMAND, config, inputs) as out:
        out.counts.update(write_part(store, out.path, config.part, config.parts))
    counts = out.counts
    print(
        f"{config.output}: held out {counts['papers_held_out']:,} papers with "
        f"{counts['contexts_held_out']:,} contexts; {counts['contexts_left']:,} contexts are left"
    )


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [config.corpus]
