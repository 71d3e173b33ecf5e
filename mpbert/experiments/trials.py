"""Try settings of a row on the validation split; a trial that has a score is not made again.

A trial is a line of ``ROW.jsonl`` in the folder of the trials. A tuning that was killed goes on,
and what the trials that ended cost counts on. One that failed is tried again when ``tune`` is
started again, and so is one that a signal ended, which leaves no line. What a trial made is
removed. A training of our model stays, in directories that bear its settings: of a row whose stages
others share, the first trial pays for these, such as pretraining.
"""

import hashlib
import json
import logging
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import mpbert
from mpbert.corpus.trec import Qrels, read_run
from mpbert.evaluation.evaluate import judge, num_gold
from mpbert.evaluation.measures import depth_needed, mean_measure
from mpbert.evaluation.tuned import Settings
from mpbert.experiments.at_once import Locks
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.identity import in_force
from mpbert.experiments.outputs import outdated, output_of
from mpbert.experiments.processes import Beside, execute
from mpbert.experiments.row_cost import cost_of
from mpbert.experiments.rows import MODEL, Row, effective_settings
from mpbert.experiments.steps import Step, steps_of
from mpbert.experiments.tuning import Budget, Tuned, choose_trials
from mpbert.foundation.errors import MpbertError, OutputError, StoppedError
from mpbert.foundation.manifest import MANIFEST, fingerprint
from mpbert.foundation.seeding import named_rng

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sample:
    """The queries of a task that trials are measured by.

    :param qrels: of the whole split.
    :param places: (M,) of the sample in these.
    """

    qrels: Qrels
    places: np.ndarray


@dataclass(frozen=True)
class Tuning:
    """What all rows are tuned with.

    :param samples: of each task that has queries.
    :param trials: folder of the records of trials.
    :param start: what was chosen on another corpus; its settings are tried first.
    :param seed: of the choice of trials.
    :param outputs: locks of outputs that trials share, where several are made at once.
    """

    experiment: Experiment
    budget: Budget
    samples: Mapping[str, Sample]
    trials: Path
    start: Tuned = field(default_factory=Tuned)
    seed: int = 1
    outputs: Locks = field(default_factory=Locks)

    @property
    def corpus_id(self) -> str:
        """What tells this corpus from others of its name."""
        return fingerprint(self.experiment.corpus)[:12]


def plan_trials(tuning: Tuning, row: Row) -> list[Settings]:
    """Return what there is to try of a row: a start, nothing new, random points of its space.

    A row whose own settings were developed on this very corpus has no other start than these.

    :raises ConfigError: a value of the space is none of the setting's.
    """
    is_developed = tuning.experiment.corpus.name in row.developed
    return choose_trials(
        row.space,
        lambda settings: in_force(tuning.experiment, row, effective_settings(row, settings)),
        named_rng(tuning.seed, f"tune {row.name}"),
        {} if is_developed else tuning.start.settings(row.name),
    )


def lacking(tuning: Tuning, row: Row) -> str:
    """Return what tuning a row needs and is not there; nothing where all is."""
    if row.task not in tuning.samples:
        return f"the {tuning.budget.split} split has no queries of task {row.task}"
    for run in tuning.experiment.inputs(Variant(row, {})):
        if not (run / MANIFEST).exists():
            return f"it takes {run}, which is not made; run mpbert make-rows, then this again"
    return ""


def key_of(tuning: Tuning, variant: Variant) -> str:
    """Return a digest of what a trial depends on beside the corpus: its steps, its settings."""
    experiment, row = tuning.experiment, variant.row
    made_of = [fingerprint(path) for path in experiment.inputs(variant)]
    content = json.dumps(
        [
            mpbert.__version__,
            [step.words for step in _steps(tuning, variant, Path())],
            str(in_force(experiment, row, variant.settings)),
            made_of,
            [tuning.budget.split, tuning.budget.queries[row.task]],
        ]
    )
    return hashlib.sha256(content.encode()).hexdigest()


def _steps(tuning: Tuning, variant: Variant, place: Path) -> list[Step]:
    """Return the steps of a trial.

    A training of our model is kept, so that make-rows finds it; its run holds all queries.
    """
    if variant.row.method == MODEL:
        return steps_of(tuning.experiment, variant)
    budget = tuning.budget
    sample = budget.queries[variant.row.task]
    return steps_of(tuning.experiment, variant, (budget.split,), place, sample)


def try_variant(
    tuning: Tuning, variant: Variant, place: Path, label: str, beside: Beside | None
) -> dict[str, Any]:
    """Return the record of one trial; what it made is removed, unless it is a training of ours."""
    shutil.rmtree(place, ignore_errors=True)
    try:
        if variant.row.method == MODEL:
            return _try_training(tuning, variant, place, label, beside)
        return _try_steps(tuning, variant, place, label, beside)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _try_training(
    tuning: Tuning, variant: Variant, place: Path, label: str, beside: Beside | None
) -> dict[str, Any]:
    experiment = tuning.experiment
    if problem := outdated(experiment, variant):
        raise OutputError(f"{problem}; remove what is named, and run this again")
    runs = experiment.runs(variant)
    if (runs / MANIFEST).exists():
        cost = cost_of(experiment, variant)
        return _record(tuning, variant, runs, cost.cpu_seconds if cost else 0.0, label)
    return _try_steps(tuning, variant, place, label, beside)


def _try_steps(
    tuning: Tuning, variant: Variant, place: Path, label: str, beside: Beside | None
) -> dict[str, Any]:
    is_kept, cpu_seconds = variant.row.method == MODEL, 0.0
    runs = tuning.experiment.runs(variant) if is_kept else place / "run"
    log = tuning.experiment.cost(variant) if is_kept else None
    for step in _steps(tuning, variant, place):
        with tuning.outputs.of(output_of(step)):  # a step whose output is finished does nothing
            found = execute(step, log, beside)
        cpu_seconds = round(cpu_seconds + found.cpu_seconds, 2)
        if found.was_stopped:
            raise StoppedError(f"{label}: {step.name} was stopped; run this again, and it goes on")
        if found.exit_code:
            logger.info("%s: failed, %s: %s", label, step.name, found.last_line)
            return _plain(variant, {}, cpu_seconds, found.exit_code)
    return _record(tuning, variant, runs, cpu_seconds, label)


def _record(
    tuning: Tuning, variant: Variant, runs: Path, cpu_seconds: float, label: str
) -> dict[str, Any]:
    """Return the record of a trial whose run was made."""
    try:
        scores = _scores(runs / f"{tuning.budget.split}.run", tuning, variant.row.task)
    except MpbertError as error:  # such as a run that was made of the test split alone
        logger.info("%s: failed, %s", label, error)
        return _plain(variant, {}, cpu_seconds, 2)
    logger.info("%s: %s in %.1f CPU s", label, scores, cpu_seconds)
    return _plain(variant, scores, cpu_seconds, 0)


def _plain(
    variant: Variant, scores: dict[str, float], cpu_seconds: float, exit_code: int
) -> dict[str, Any]:
    found = {"settings": dict(variant.settings), "scores": scores}
    return {**found, "cpu_seconds": cpu_seconds, "exit_code": exit_code}


def _scores(path: Path, tuning: Tuning, task: str) -> dict[str, float]:
    name, ranked, sample = tuning.budget.measure, read_run(path), tuning.samples[task]
    judged = judge(ranked, sample.qrels, depth_needed([name], ranked.longest), str(path))
    gold = num_gold(sample.qrels)[sample.places]
    return {name: round(mean_measure(name, judged.hits[sample.places], gold), 6)}
