"""``fit``: corpus store -> vectors directory of a method."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import option, paths_in, positional, resolve_settings
from mpbert.foundation.manifest import beside, check_inputs, is_finished, output_directory
from mpbert.foundation.training_log import for_tensorboard
from mpbert.methods.embedding import EMBEDDERS, make_embedder


@dataclass(frozen=True)
class Config:
    """Fit a method on the training split and embed all papers and the contexts to rank for."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "vectors directory to write")
    method: str = option("word2vec", "which one", choices=EMBEDDERS.names())
    settings: list[str] = option(
        (), "settings of the method, for example dim=200 epochs=10", nargs="*"
    )
    seed: int = option(1, "seed of every random choice")

    def __post_init__(self) -> None:
        """Put the defaults in force beside the given settings: a new default is a new output."""
        settings = resolve_settings(EMBEDDERS[self.method], self.settings, self.method)
        object.__setattr__(self, "settings", settings)


def run(config: Config) -> None:
    """Write ``papers`` and ``contexts.valid`` and ``contexts.test``; print how many."""
    from mpbert.corpus.store import CorpusStore
    from mpbert.foundation.seeding import named_rng

    inputs = inputs_of(config)
    if is_finished(config.output, "fit", config, inputs):
        shutil.rmtree(_checkpoint_path(config), ignore_errors=True)
        print(f"{config.output} exists, reused")
        return
    check_inputs(inputs)
    embedder = make_embedder(config.method, config.settings)
    embedder.checkpoint = _checkpoint_path(config)
    store = CorpusStore(config.corpus)
    with output_directory(config.output, "fit", config, inputs) as out:
        with for_tensorboard(config.output, goes_on=embedder.checkpoint.exists()):
            counts = embedder.fit(store, named_rng(config.seed, f"fit {config.method}"))
        stores = embedder.vectors(store)
        for name, vectors in stores.items():
            vectors.save(out.path, name)
            out.counts[f"{name}_zero"] = int((~vectors.vectors.any(axis=1)).sum())
            out.counts[name] = len(vectors)
        embedder.save(store, out.path)
        out.counts.update(counts)
    shutil.rmtree(embedder.checkpoint, ignore_errors=True)
    print(
        f"{config.output}: {len(stores['papers']):,} papers, "
        f"{out.counts['papers_zero']:,} of them without a vector"
    )


def _checkpoint_path(config: Config) -> Path:
    return beside(config.output, "checkpoint")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [config.corpus, *paths_in(config.settings)]
