"""``build-corpus``: a raw corpus becomes a corpus store."""

from pathlib import Path

from mpbert.corpus.build_config import BuildConfig
from mpbert.foundation.manifest import MANIFEST

Config = BuildConfig


def run(config: Config) -> None:
    """Build the store, unless it is there; print its sizes.

    :raises CorpusError: the raw corpus is broken, or a split would be empty.
    :raises ConfigError: the store would lie in the raw corpus.
    """
    from mpbert.corpus.building import build_store

    built = build_store(config)
    if not built.is_new:
        print(f"{config.output} exists, reused")
        return
    width = max(map(len, [*built.written, *built.in_text]))
    for name, count in [*built.written.items(), *built.in_text.items()]:
        print(f"{name:<{width}} {count:>10,}")
    for line in built.linkage:
        print(line)
    print(f"all that was cut and dropped is counted in {config.output / MANIFEST}")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [config.input]
