"""Try settings of a row on the validation split; each trial that ended is kept and not repeated.

A trial is a line of ``trials.jsonl`` in the folder of the row's trials. A tuning that was killed
goes on, and the time of trials that ended counts on; one that a signal ended is tried again. What
a trial made is removed. A training of our model stays, in directories that bear its settings: of a
row whose stages others share, the first trial pays for these, such as pretraining.
"""

import json
import logging
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpbert
from mpbert.corpus.trec import Qrels, read_run
from mpbert.evaluation.evaluate import judge, num_gold
from mpbert.evaluation.measures import depth_needed, mean_measure
from mpbert.evaluation.tuned import Settings, TunedRow
from mpbert.experiments.cost import append_record, read_records
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.identity import identity_of
from mpbert.experiments.outputs import outdated
from mpbert.experiments.processes import execute
from mpbert.experiments.row_cost import cost_of
from mpbert.experiments.rows import MODEL, Row, effective_settings
from mpbert.experiments.steps import setting_words, steps_of
from mpbert.experiments.tuning import Budget, Trial, best_of, choose_trials
from mpbert.foundation.errors import MpbertError, OutputError
from mpbert.foundation.manifest import MANIFEST, fingerprint
from mpbert.foundation.seeding import named_rng

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tuning:
    """What all rows are tuned with.

    :param qrels: of the split of the budget.
    :param seed: of the choice of trials.
    """

    experiment: Experiment
    budget: Budget
    qrels: Qrels
    seed: int = 1

    @property
    def corpus_id(self) -> str:
        """What tells this corpus from others of its name."""
        return fingerprint(self.experiment.corpus)[:12]


def plan_trials(tuning: Tuning, row: Row) -> list[Settings]:
    """Return what is tried of a row: nothing new first, then random points of its space.

    :raises ConfigError: a value of the space is none of the setting's.
    """
    return choose_trials(
        row.space,
        tuning.budget.trials,
        lambda settings: identity_of(row, effective_settings(row, settings)),
        named_rng(tuning.seed, f"tune {row.name}"),
    )


def lacking(experiment: Experiment, row: Row) -> str:
    """Return what a row needs of others and is not there; nothing where all is."""
    for run in experiment.inputs(Variant(row, {})):
        if not (run / MANIFEST).exists():
            return f"it takes {run}, which is not made; run mpbert make-rows, then this again"
    return ""


def tune_row(tuning: Tuning, row: Row, plan: Sequence[Settings], label: str) -> TunedRow | None:
    """Try settings of a row and return the best; None: all failed."""
    return best_of(list(_trials(tuning, row, plan, label)))


def _trials(tuning: Tuning, row: Row, plan: Sequence[Settings], label: str) -> Iterator[Trial]:
    place = tuning.experiment.layout.tuning(tuning.experiment.corpus.name, row.name)
    log, corpus_id = place / "trials.jsonl", tuning.corpus_id
    ended = {r.get("key"): r for r in read_records(log) if r["corpus"] == corpus_id}
    measure, seconds = tuning.budget.measure, 0.0
    for number, settings in enumerate(plan):
        if seconds > 60 * tuning.budget.minutes:
            logger.info("%s: %d trials took %.0f s, no more", label, number, seconds)
            return
        variant = Variant(row, effective_settings(row, settings))
        key = _key_of(tuning, variant)
        if key not in ended or measure not in ended[key]["scores"]:
            words = " ".join(setting_words(variant.settings))
            logger.info("%s: trial %d/%d: %s ...", label, number + 1, len(plan), words)
            record = _try(tuning, variant, place / str(number), label)
            ended[key] = {"corpus": corpus_id, "key": key, **record}
            if record["exit_code"] >= 0:
                append_record(log, ended[key])
        trial = Trial(settings, ended[key]["scores"].get(measure), ended[key]["seconds"])
        seconds += trial.seconds
        yield trial


def _key_of(tuning: Tuning, variant: Variant) -> str:
    """Return all that a trial depends on, beside the corpus: its steps and what settings mean."""
    steps = steps_of(tuning.experiment, variant, *_ranked(tuning, variant, Path()))
    made_of = [fingerprint(path) for path in tuning.experiment.inputs(variant)]
    identity = identity_of(variant.row, variant.settings)
    parts = [mpbert.__version__, *([step.words] for step in steps), identity]
    return json.dumps([*parts, made_of] if made_of else parts)


def _ranked(tuning: Tuning, variant: Variant, place: Path) -> tuple[tuple[str, ...], Path | None]:
    """Return the splits that a trial ranks and the folder it writes to.

    A training of our model is kept, so that make-rows finds it; its run holds all splits.
    """
    return ((), None) if variant.row.method == MODEL else ((tuning.budget.split,), place)


def _try(tuning: Tuning, variant: Variant, place: Path, label: str) -> dict[str, Any]:
    """Return the record of one trial; what it made is removed, unless it is a training of ours."""
    shutil.rmtree(place, ignore_errors=True)
    try:
        if variant.row.method == MODEL:
            return _try_training(tuning, variant, label)
        return _try_steps(tuning, variant, place, place / "run", None, label)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _try_training(tuning: Tuning, variant: Variant, label: str) -> dict[str, Any]:
    experiment = tuning.experiment
    if problem := outdated(experiment, variant):
        raise OutputError(f"{problem}; remove what is named, and run this again")
    runs = experiment.runs(variant)
    if (runs / MANIFEST).exists():
        cost = cost_of(experiment, variant)
        return _record(tuning, variant, runs, cost.seconds if cost else 0.0, label)
    return _try_steps(tuning, variant, None, runs, experiment.cost(variant), label)


def _try_steps(
    tuning: Tuning, variant: Variant, place: Path | None, runs: Path, log: Path | None, label: str
) -> dict[str, Any]:
    seconds, splits = 0.0, () if place is None else (tuning.budget.split,)
    for step in steps_of(tuning.experiment, variant, splits, place):
        found = execute(step, log)
        seconds = round(seconds + found.seconds, 2)
        if found.exit_code:
            logger.info("%s: failed, %s: %s", label, step.name, found.last_line)
            return _plain(variant, {}, seconds, found.exit_code)
    return _record(tuning, variant, runs, seconds, label)


def _record(
    tuning: Tuning, variant: Variant, runs: Path, seconds: float, label: str
) -> dict[str, Any]:
    """Return the record of a trial whose run was made."""
    try:
        scores = _scores(runs / f"{tuning.budget.split}.run", tuning)
    except MpbertError as error:  # such as a run that was made of the test split alone
        logger.info("%s: failed, %s", label, error)
        return _plain(variant, {}, seconds, 2)
    logger.info("%s: %s in %.1f s", label, scores, seconds)
    return _plain(variant, scores, seconds, 0)


def _plain(
    variant: Variant, scores: dict[str, float], seconds: float, exit_code: int
) -> dict[str, Any]:
    settings = dict(variant.settings)
    return {"settings": settings, "scores": scores, "seconds": seconds, "exit_code": exit_code}


def _scores(path: Path, tuning: Tuning) -> dict[str, float]:
    name, ranked = tuning.budget.measure, read_run(path)
    judged = judge(ranked, tuning.qrels, depth_needed([name], ranked.longest), str(path))
    return {name: round(mean_measure(name, judged.hits, num_gold(tuning.qrels)), 6)}
