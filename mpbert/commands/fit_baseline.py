"""``fit-baseline``: corpus store -> vectors directory of a baseline."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from mpbert.baselines import BASELINES
from mpbert.baselines.base import make_baseline
from mpbert.config import option, paths_in, positional, resolve_settings
from mpbert.data.store import CorpusStore
from mpbert.manifest import beside, check_inputs, is_finished, output_directory
from mpbert.seeding import named_rng
from mpbert.training_log import for_tensorboard


@dataclass(frozen=True)
class Config:
    """Fit a baseline on the training split and embed all papers and the contexts to rank for."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "vectors directory to write")
    baseline: str = option("word2vec", "which one", choices=BASELINES.names())
    settings: list[str] = option(
        (), "settings of the baseline, for example dim=200 epochs=10", nargs="*", type=str
    )
    seed: int = option(1, "seed of every random choice")

    def __post_init__(self) -> None:
        """Put the defaults in force beside the given settings: a new default is a new baseline."""
        settings = resolve_settings(BASELINES[self.baseline], self.settings, self.baseline)
        object.__setattr__(self, "settings", settings)


def run(config: Config) -> None:
    """Write ``papers`` and ``contexts.valid`` and ``contexts.test``; print how many."""
    inputs = inputs_of(config)
    if is_finished(config.output, "fit-baseline", config, inputs):
        shutil.rmtree(_checkpoint_path(config), ignore_errors=True)
        print(f"{config.output} exists, reused")
        return
    check_inputs(inputs)
    baseline = make_baseline(config.baseline, config.settings)
    baseline.checkpoint = _checkpoint_path(config)
    store = CorpusStore(config.corpus)
    with output_directory(config.output, "fit-baseline", config, inputs) as out:
        with for_tensorboard(config.output, goes_on=baseline.checkpoint.exists()):
            counts = baseline.fit(store, named_rng(config.seed, f"fit {config.baseline}"))
        stores = baseline.vectors(store)
        for name, vectors in stores.items():
            vectors.save(out.path, name)
            out.counts[f"{name}_zero"] = int((~vectors.vectors.any(axis=1)).sum())
            out.counts[name] = len(vectors)
        baseline.save(store, out.path)
        out.counts.update(counts)
    shutil.rmtree(baseline.checkpoint, ignore_errors=True)
    print(
        f"{config.output}: {len(stores['papers']):,} papers, "
        f"{out.counts['papers_zero']:,} of them without a vector"
    )


def _checkpoint_path(config: Config) -> Path:
    return beside(config.output, "checkpoint")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [config.corpus, *paths_in(config.settings)]
