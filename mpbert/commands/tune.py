"""``tune``: corpus store -> settings of every row, chosen on validation with the same budget.

Only qrels of the validation split are read. (Recipes and baselines embed the test split too, on
the row's time; methods rank the validation split alone.) A trial that ended is a line of
``runs/tuning/CORPUS/NAME/trials.jsonl`` and is not repeated: a tuning that was killed goes on, and
the time of trials that ended counts on. One that a signal ended is tried again. Of a row that is
made by recipes the first trial pays what all share, such as pretraining.
"""

import json
import logging
import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import mpbert
from mpbert.commands.make_rows import (
    cost_of,
    execute,
    identity_of,
    left_out,
    outdated,
    steps_of,
)
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import Qrels, read_qrels, read_run
from mpbert.evaluation.evaluate import judge, num_gold
from mpbert.evaluation.measures import depth_needed, mean_measure, parse_measure
from mpbert.experiments.cost import append_record, cost_file, read_records
from mpbert.experiments.rows import (
    Row,
    choose_rows,
    effective_settings,
    read_rows,
)
from mpbert.experiments.steps import setting_words
from mpbert.experiments.tuning import (
    Budget,
    Settings,
    Trial,
    Tuned,
    TunedRow,
    as_plain,
    best_of,
    choose_trials,
    read_tuned,
)
from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError, MpbertError, OutputError
from mpbert.foundation.manifest import MANIFEST, beside, claimed, fingerprint
from mpbert.foundation.seeding import named_rng

logger = logging.getLogger(__name__)
_SPLIT = "valid"


@dataclass(frozen=True)
class Config:
    """Choose the settings of every row that has a space of them, by the validation split."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "YAML file to write, or to add rows to")
    rows: Path = option(Path("eval/rows"), "directory of NAME.yaml, one row each")
    only: list[str] = option((), "names of the rows to tune; none: all", nargs="+", type=str)
    trials: int = option(4, "settings tried per row, its own among them")
    minutes: float = option(15, "after which no trial of a row is begun")
    measure: str = option("MAP@10", "mean that is to be largest")
    seed: int = option(1, "seed of the choice of trials")

    def __post_init__(self) -> None:
        """Check what argparse cannot."""
        parse_measure(self.measure)
        if self.trials < 1:
            raise ConfigError(f"--trials is {self.trials}; expected 1 or more")
        if not 0 <= self.minutes < math.inf:
            raise ConfigError(f"--minutes is {self.minutes}; expected 0 or more, and finite")


@dataclass(frozen=True)
class _Tuning:
    """What all rows are tuned with."""

    config: Config
    qrels: Qrels
    corpus_id: str


def run(config: Config) -> None:
    """Write the file after each row, in the order of the report.

    :raises ConfigError: a condition is wrong, or the file is of another budget.
    :raises MpbertError: all trials of a row failed.
    """
    name = CorpusStore(config.corpus).path.name
    qrels = read_qrels(config.corpus / f"qrels.{_SPLIT}.txt")
    budget = Budget(config.trials, config.minutes, config.measure, _SPLIT, len(qrels))
    tuned = read_tuned(config.output if config.output.exists() else None)
    if tuned.budget not in (None, budget):
        raise ConfigError(
            f"{config.output}: is of another budget ({_in_words(tuned.budget)}; here "
            f"{_in_words(budget)}); give the same flags, or remove the file to tune all rows anew"
        )
    chosen = choose_rows(read_rows(config.rows), name, config.only)
    conditions = [condition for condition in chosen if condition.space]
    for condition in chosen:
        if config.only and not condition.space:
            logger.info("%s has no space of settings; nothing to tune", condition.name)
    plans = [_plan(condition, config) for condition in conditions]
    failed = []
    for number, (condition, plan) in enumerate(zip(conditions, plans, strict=True), start=1):
        label = f"[{number}/{len(conditions)}] {condition.name}"
        if reason := left_out(condition, config.only) or _lacking(condition, name):
            logger.info("%s: left out, %s", label, reason)
        elif condition.name in tuned.rows and condition.name not in config.only:
            logger.info("%s: is in %s; --only tunes it again", label, config.output)
        else:
            tuning = _Tuning(config, qrels, fingerprint(config.corpus)[:12])
            outcome = best_of(list(_trials(condition, plan, tuning, label)))
            if outcome is None:
                failed.append(condition.name)
                continue
            _add(config.output, budget, condition.name, outcome)
            words = " ".join(setting_words(outcome.settings)) or "its own settings"
            logger.info("%s: %s, %s %.4f", label, words, config.measure, outcome.score)
    if failed:
        raise MpbertError(f"all trials failed of {', '.join(failed)}; see above")


def _lacking(condition: Row, corpus: str) -> str:
    """Return what a row needs of others and is not there; nothing where all is."""
    for run in condition.input_directories(corpus):
        if not (run / MANIFEST).exists():
            return f"it takes {run}, which is not made; run mpbert make-rows, then this again"
    return ""


def _plan(condition: Row, config: Config) -> list[Settings]:
    return choose_trials(
        condition.space,
        config.trials,
        lambda settings: identity_of(condition, effective_settings(condition, settings)),
        named_rng(config.seed, f"tune {condition.name}"),
    )


def _trials(condition: Row, plan: list[Settings], tuning: _Tuning, label: str) -> Iterator[Trial]:
    config = tuning.config
    place = Path("runs/tuning", config.corpus.name, condition.name)
    log = place / "trials.jsonl"
    ended = _read(log, tuning.corpus_id)
    seconds = 0.0
    for number, settings in enumerate(plan):
        if seconds > 60 * config.minutes:
            logger.info("%s: %d trials took %.0f s, no more", label, number, seconds)
            return
        effective = effective_settings(condition, settings)
        key = _key_of(condition, effective, config)
        if key not in ended or config.measure not in ended[key]["scores"]:
            words = " ".join(setting_words(effective))
            logger.info("%s: trial %d/%d: %s ...", label, number + 1, len(plan), words)
            record = _try(condition, effective, place / str(number), tuning, label)
            ended[key] = {"corpus": tuning.corpus_id, "key": key, **record}
            if record["exit_code"] >= 0:
                append_record(log, ended[key])
        score = ended[key]["scores"].get(config.measure)
        trial = Trial(settings, score, ended[key]["seconds"])
        seconds += trial.seconds
        yield trial


def _key_of(condition: Row, effective: Settings, config: Config) -> str:
    """Return all that a trial depends on, beside the corpus: its steps and what settings mean."""
    steps = steps_of(condition, config.corpus, effective, Path("vectors"), Path("run"), (_SPLIT,))
    identity = identity_of(condition, effective)
    made_of = [fingerprint(path) for path in condition.input_directories(config.corpus.name)]
    parts = [mpbert.__version__, *([step.words] for step in steps), identity]
    return json.dumps([*parts, made_of] if made_of else parts)


def _try(
    condition: Row, effective: Settings, place: Path, tuning: _Tuning, label: str
) -> dict[str, Any]:
    """Return the record of one trial; what it made is removed, unless recipes made it."""
    corpus = tuning.config.corpus
    shutil.rmtree(place, ignore_errors=True)
    runs = place / "run"
    record: dict[str, Any] = {"settings": effective, "scores": {}, "seconds": 0.0, "exit_code": 0}
    steps = steps_of(condition, corpus, effective, place / "vectors", runs, (_SPLIT,))
    log = None
    if condition.recipe:
        runs = condition.run_directory(corpus.name, effective)
        log = cost_file(corpus.name, condition.name)  # all.sh will find the run made
        if problem := outdated(condition, corpus, effective):
            raise OutputError(f"{problem}; remove what is named, and run this again")
        if (runs / MANIFEST).exists():
            cost = cost_of(condition, corpus.name, effective)
            record["seconds"] = cost.seconds if cost else 0.0
            steps = []
    for step in steps:
        found = execute(step, log, runs)
        record["seconds"] = round(record["seconds"] + found.seconds, 2)
        if found.exit_code:
            record["exit_code"] = found.exit_code
            logger.info("%s: failed, %s: %s", label, step.name, found.last_line)
            break
    else:
        try:
            record["scores"] = _scores(runs / f"{_SPLIT}.run", tuning)
            logger.info("%s: %s in %.1f s", label, record["scores"], record["seconds"])
        except MpbertError as error:  # such as a run that was made of the test split alone
            record["exit_code"] = 2
            logger.info("%s: failed, %s", label, error)
    shutil.rmtree(place, ignore_errors=True)
    return record


def _scores(path: Path, tuning: _Tuning) -> dict[str, float]:
    name = tuning.config.measure
    ranked = read_run(path)
    judged = judge(ranked, tuning.qrels, depth_needed([name], ranked.longest), str(path))
    return {name: round(mean_measure(name, judged.hits, num_gold(tuning.qrels)), 6)}


def _read(log: Path, corpus_id: str) -> dict[str, dict[str, Any]]:
    """Return the trials that ended on this corpus by what they depended on."""
    records = read_records(log)
    return {r.get("key"): r for r in records if r["corpus"] == corpus_id}


def _add(output: Path, budget: Budget, name: str, outcome: TunedRow) -> None:
    """Write the outcome of a row beside those that are in the file by now."""
    with claimed(output):
        rows = read_tuned(output if output.exists() else None).rows
        tuned = Tuned(budget, {**rows, name: outcome})
        partial = beside(output, "partial")
        text = yaml.safe_dump(as_plain(tuned), sort_keys=False, allow_unicode=True)
        partial.write_text("# written by mpbert tune\n" + text, encoding="utf-8")
        partial.replace(output)


def _in_words(budget: Budget) -> str:
    return f"--trials {budget.trials} --minutes {budget.minutes:g} --measure {budget.measure}"
