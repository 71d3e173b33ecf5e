"""``check``: an output directory -> whether all of its files are as they were written."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import positional
from mpbert.foundation.manifest import check_inputs, read_manifest


@dataclass(frozen=True)
class Config:
    """Compare all files of finished outputs with the checksums in their manifests.

    Commands check what they read; this also checks what nothing reads, and the large files of an
    index, which recommend and serve map.
    """

    directories: list[Path] = positional(
        "directories", "outputs of mpbert: a corpus, vectors, an index", nargs="+"
    )


def run(config: Config) -> None:
    """Print a line for each output.

    :raises MpbertError: one is no output, or a file of it is missing or damaged.
    """
    for directory in config.directories:
        manifest = read_manifest(directory)
        check_inputs([directory])
        print(f"{directory}: {len(manifest['files']):,} files are as they were written")
