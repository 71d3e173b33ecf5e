"""``make-rows``: corpus store and rows -> vectors and runs of all rows, and what they cost.

Each step is a process of its own, so that a row that fails leaves the rest alone. What it took is
appended to ``cost/CORPUS/NAME.jsonl`` below the root: a line when it begins and one when it ends.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.experiments.options import configs_option, tuned_option
from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.processes import ended_by_sigterm
from mpbert.retrieval.options import pool_option


@dataclass(frozen=True)
class Config:
    """Make every row of the report that is not finished; go on after one that fails."""

    corpus: Path = positional("corpus", "corpus store to read")
    rows: Path = positional("rows", "folder of NAME.yaml, one row each, or a file of several rows")
    root: Path = positional("root", "folder of all outputs: vectors, runs, costs")
    only: list[str] = option(
        (), "rows to make, with what they need; without it, all of this corpus", nargs="+"
    )
    tuned: Optional[Path] = tuned_option()
    seeds: int = option(1, "train rows with so many seeds; report gives their mean")
    at_once: int = option(
        1, "make so many rows at the same time; they share the cores, and each takes its memory"
    )
    pool: str = pool_option()
    configs: Optional[Path] = configs_option()

    def __post_init__(self) -> None:
        check_least(self, seeds=1, at_once=1)


def run(config: Config) -> None:
    """Make the rows in the order of the report; name those that failed.

    :raises ConfigError: a row is wrong; nothing was begun.
    :raises RowsFailedError: a row failed that is not optional.
    :raises Terminated: SIGTERM came between two steps.
    """
    with ended_by_sigterm("stopped; run this again, and it goes on"):
        _make(config)


def _make(config: Config) -> None:
    from mpbert.corpus.store import CorpusStore
    from mpbert.experiments.experiment import Experiment
    from mpbert.experiments.layout import Layout
    from mpbert.experiments.making import make_rows
    from mpbert.experiments.row_files import configs_beside, read_rows
    from mpbert.experiments.rows import choose_rows
    from mpbert.experiments.tuning import read_tuned, tuned_file

    name = CorpusStore(config.corpus).path.name
    rows = read_rows(config.rows)
    choice = choose_rows(rows, name, config.only)
    tuned = read_tuned(tuned_file(config.tuned, name))
    configs = config.configs or configs_beside(config.rows)
    layout = Layout(config.root)
    experiment = Experiment.of(rows, config.corpus, layout, tuned, configs, config.pool)
    make_rows(experiment, choice, config.seeds, config.at_once)
