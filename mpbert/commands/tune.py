"""``tune``: corpus store and rows -> settings of every row, chosen on validation.

All rows have the same budget, in CPU hours. Only qrels of the validation split are read. (Our model
and other embedders embed the test split too, at the row's cost; methods rank the validation split
alone, and there a fixed sample of the queries.)
"""

import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

import yaml

from mpbert.corpus.tasks import TASKS
from mpbert.evaluation.tuned import Budget, TunedRow
from mpbert.experiments.options import configs_option
from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError, MpbertError
from mpbert.foundation.manifest import beside, claimed
from mpbert.foundation.processes import ended_by_sigterm
from mpbert.retrieval.options import pool_option

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.corpus.store import CorpusStore
    from mpbert.experiments.rows import Row
    from mpbert.experiments.trials import Sample, Tuning
    from mpbert.experiments.tuning import Tuned

logger = logging.getLogger(__name__)
_SPLIT = "valid"


@dataclass(frozen=True)
class Config:
    """Choose the settings of every row that has a space of them, by the validation split."""

    corpus: Path = positional("corpus", "corpus store to read")
    rows: Path = positional("rows", "folder of NAME.yaml, one row each, or a file of several rows")
    root: Path = positional("root", "folder of all outputs: runs that rows take, trials")
    output: Path = positional("output", "YAML file to write, or to add rows to")
    only: list[str] = option((), "names of the rows to tune; without it, all", nargs="+")
    cpu_hours: float = option(
        0.25, "budget of each row: its first trial, then others while one of mean cost fits"
    )
    trials: Optional[int] = option(
        None, "make at most so many trials of each row, within the budget"
    )
    queries: int = option(
        2000, "most queries that trials rank and are measured by, a fixed random sample"
    )
    start: Optional[Path] = option(
        None, "file of mpbert tune of another corpus: its settings are tried first"
    )
    measure: str = option("MAP@10", "measure whose mean is to be largest")
    seed: int = option(1, "seed of the choice of trials")
    at_once: int = option(
        1,
        "make so many trials at the same time, of one row or of several; they share the cores, and "
        "each needs memory of its own",
    )
    pool: str = pool_option()
    configs: Optional[Path] = configs_option()

    def __post_init__(self) -> None:
        from mpbert.evaluation.measures import parse_measure

        parse_measure(self.measure)
        if not 0 <= self.cpu_hours < math.inf:
            raise ConfigError(f"--cpu-hours is {self.cpu_hours}; expected 0 or more, and finite")
        check_least(self, queries=1, at_once=1, trials=1)


def run(config: Config) -> None:
    """Write the file after each row, in the order of the report.

    :raises ConfigError: a row is wrong, or the file is of another budget.
    :raises MpbertError: all trials of a row failed.
    :raises StoppedError: SIGTERM ended a trial.
    :raises Terminated: SIGTERM came between two of them.
    """
    with ended_by_sigterm("stopped; run this again, and it goes on"):
        _tune(config)


def _tune(config: Config) -> None:
    from mpbert.experiments.making import left_out
    from mpbert.experiments.processes import work_through
    from mpbert.experiments.row_trials import AllTrials, RowTrials
    from mpbert.experiments.steps import setting_words
    from mpbert.experiments.trials import lacking

    tuning, tuned = _tuning(config), _read(config.output)
    _check_budget(tuned, tuning.budget, config.output)
    chosen, rows, failed = _rows(config, tuning), [], []
    for number, row in enumerate(chosen, 1):
        label = f"[{number}/{len(chosen)}] {row.name}"
        trials = RowTrials(tuning, row, config.trials, label)
        if reason := left_out(row, config.only) or lacking(tuning, row):
            logger.info("%s: left out, %s", label, reason)
        elif row.name in tuned.rows and row.name not in config.only:
            logger.info("%s: is in %s; --only tunes it again", label, config.output)
        else:
            rows.append(trials)

    def settle(trials: RowTrials) -> None:
        outcome = trials.outcome()
        if outcome is None:
            failed.append(trials.row.name)
            return
        _add(config.output, tuning.budget, trials.row.name, outcome)
        words = " ".join(setting_words(outcome.settings)) or "its own settings"
        logger.info("%s: %s, %s %.4f", trials.label, words, config.measure, outcome.score)

    work_through(
        AllTrials(rows, settle),
        lambda part: f"{part[0].row.name} {part[1] + 1}",
        lambda part, beside: part[0].make(part[1], beside),
        config.at_once,
    )
    if failed:
        raise MpbertError(f"all trials failed of {', '.join(failed)}; see above")


def _tuning(config: Config) -> "Tuning":
    from mpbert.corpus.store import CorpusStore
    from mpbert.experiments.experiment import Experiment
    from mpbert.experiments.layout import Layout
    from mpbert.experiments.row_files import configs_beside, read_rows
    from mpbert.experiments.trials import Tuning
    from mpbert.experiments.tuning import read_tuned

    samples = _samples(CorpusStore(config.corpus), config.queries)
    ranked = {task: len(sample.places) for task, sample in samples.items()}
    every = {task: len(sample.qrels) for task, sample in samples.items()}
    start = config.start.stem if config.start else ""
    budget = Budget(config.cpu_hours, config.measure, _SPLIT, ranked, every, config.pool, start)
    configs = config.configs or configs_beside(config.rows)
    rows, layout = read_rows(config.rows), Layout(config.root)
    tuned = _read(config.output)
    experiment = Experiment.of(rows, config.corpus, layout, tuned, configs, config.pool)
    trials = config.output.with_suffix(".trials")
    return Tuning(experiment, budget, samples, trials, read_tuned(config.start), config.seed)


def _samples(store: "CorpusStore", size: int) -> "dict[str, Sample]":
    """Return the queries that trials are measured by, of each task that has some."""
    import numpy as np

    from mpbert.corpus.queries import fixed_sample, qrels_name
    from mpbert.corpus.trec import read_qrels
    from mpbert.experiments.trials import Sample

    samples = {}
    for task in TASKS:
        queries = store.queries(_SPLIT, task)
        if len(queries):
            qrels = read_qrels(store.path / qrels_name(task, _SPLIT))
            chosen = set(queries.take(fixed_sample(queries, size)).query_ids)
            places = np.flatnonzero([query in chosen for query in qrels.query_ids])
            samples[task] = Sample(qrels, places)
    return samples


def _rows(config: Config, tuning: "Tuning") -> "list[Row]":
    """Return the rows that are tuned; say which of those asked for are not."""
    from mpbert.experiments.rows import choose_rows

    every = list(tuning.experiment.rows.values())
    choice = choose_rows(every, config.corpus.name, config.only)
    chosen = [row for row in choice.rows if row.name not in choice.needed]
    for row in chosen:
        if config.only and not row.space:
            logger.info("%s has no space of settings; nothing to tune", row.name)
    return [row for row in chosen if row.space]


def _check_budget(tuned: "Tuned", budget: Budget, output: Path) -> None:
    if tuned.budget not in (None, budget):
        raise ConfigError(
            f"{output}: is of another budget ({_in_words(tuned.budget)}; here "
            f"{_in_words(budget)}); give the same flags on the same corpus, or remove the file to "
            f"tune all rows anew"
        )


def _read(output: Path) -> "Tuned":
    from mpbert.experiments.tuning import read_tuned

    return read_tuned(output if output.exists() else None)


def _add(output: Path, budget: Budget, name: str, outcome: TunedRow) -> None:
    """Write the outcome of a row beside those that are in the file by now."""
    from mpbert.experiments.tuning import Tuned, as_plain

    with claimed(output):
        tuned = Tuned(budget, {**_read(output).rows, name: outcome})
        partial = beside(output, "partial")
        text = yaml.safe_dump(as_plain(tuned), sort_keys=False, allow_unicode=True)
        partial.write_text("# written by mpbert tune\n" + text, encoding="utf-8")
        partial.replace(output)


def _in_words(budget: Budget) -> str:
    queries = ", ".join(
        f"{number} of {budget.of.get(task, 0)} {task}" for task, number in budget.queries.items()
    )
    start = f" --start {budget.start}" if budget.start else ""
    return (
        f"--cpu-hours {budget.cpu_hours:g} --measure {budget.measure} --pool {budget.pool}{start}, "
        f"{queries} queries"
    )
