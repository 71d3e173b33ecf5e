"""``make-rows``: corpus store -> vectors and runs of all conditions, and what they cost.

Each step is a process of its own, so that a row that fails leaves the rest alone. What it took is
appended to ``runs/cost/CORPUS/NAME.jsonl``: a line when it begins and a line when it ends.
"""

import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.commands import fit, rerank, retrieve
from mpbert.corpus.store import CorpusStore
from mpbert.experiments.cost import RowCost, append_record, cost_file, read_cost, row_cost
from mpbert.experiments.measured import Measured, run_measured
from mpbert.experiments.rows import (
    Row,
    choose_rows,
    effective_settings,
    read_rows,
)
from mpbert.experiments.seeds import takes_seeds, with_seed
from mpbert.experiments.steps import (
    Step,
    dense_steps,
    lexical_steps,
    recipe_steps,
    rerank_steps,
    setting_words,
    step_environment,
)
from mpbert.experiments.tuning import Settings, Tuned, read_tuned, tuned_file
from mpbert.foundation.config import option, parse_config, positional, resolve_settings
from mpbert.foundation.errors import ConfigError, MpbertError, OutputError, RowsFailedError
from mpbert.foundation.manifest import MANIFEST, claimed, fingerprint, is_finished, read_manifest
from mpbert.methods.embedding import EMBEDDERS
from mpbert.methods.lexical.index import LEXICAL
from mpbert.methods.reranking import RERANKERS

logger = logging.getLogger(__name__)
_COMMANDS = {"fit": fit, "rerank": rerank, "retrieve": retrieve}
_FAMILIES = (EMBEDDERS, LEXICAL, RERANKERS)


@dataclass(frozen=True)
class Config:
    """Make every row of the report that is not finished; go on after one that fails."""

    corpus: Path = positional("corpus", "corpus store to read")
    rows: Path = option(Path("eval/rows"), "directory of NAME.yaml, one row each")
    only: list[str] = option((), "names of the rows to make; none: all", nargs="+", type=str)
    tuned: Optional[Path] = option(
        None, "what mpbert tune chose; where it exists, eval/tuned/CORPUS.yaml", type=Path
    )
    seeds: int = option(
        1, "train rows whose recipes take flags with so many seeds; report gives their mean"
    )

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise ConfigError(f"--seeds {self.seeds}; expected 1 or more")


def run(config: Config) -> None:
    """Make the rows in the order of the report; name those that failed.

    :raises ConfigError: a condition is wrong; nothing was begun.
    :raises RowsFailedError: a row failed that is not optional.
    """
    name = CorpusStore(config.corpus).path.name
    conditions = choose_rows(read_rows(config.rows), name, config.only)
    tuned = read_tuned(tuned_file(config.tuned, name))
    settings = {c.name: effective_settings(c, tuned.settings(c.name)) for c in conditions}
    for condition in conditions:
        try:
            identity_of(condition, settings[condition.name])
        except ConfigError as error:
            if not tuned.settings(condition.name):
                raise
            raise ConfigError(f"{error} (settings of {tuned_file(config.tuned, name)})") from error
    planned = [
        (condition, seed)
        for seed in range(1, config.seeds + 1)
        for condition in conditions
        if seed == 1 or takes_seeds(condition)
    ]
    failed: dict[str, bool] = {}  # row to whether it may fail
    for number, (condition, seed) in enumerate(planned, start=1):
        label = f"[{number}/{len(planned)}] {condition.name}" + f", seed {seed}" * (seed > 1)
        settings_here = with_seed(settings[condition.name], seed)
        if reason := left_out(condition, config.only):
            logger.info("%s: left out, %s", label, reason)
        elif problem := _make(condition, config.corpus, settings_here, label):
            logger.info("%s: failed, %s", label, problem)
            failed[condition.name] = condition.optional
    if failed:
        names = ", ".join(row + " (optional)" * optional for row, optional in failed.items())
        message = f"{len(failed)} of {len(conditions)} rows failed: {names}; see above"
        if not all(failed.values()):
            raise RowsFailedError(f"{message}, and run this again: what is finished is reused")
        logger.info(message)


def identity_of(condition: Row, settings: Settings) -> Hashable:
    """Return what settings amount to, with the defaults of the method.

    :raises ConfigError: there is no such method, setting or value.
    """
    if condition.recipe:
        return tuple(sorted((name, str(value)) for name, value in settings.items()))
    families = [family for family in _FAMILIES if condition.method in family.names()]
    source = f"condition {condition.name}"
    if not families:
        known = ", ".join(name for family in _FAMILIES for name in family.names())
        raise ConfigError(f"{source}: unknown method {condition.method!r}; expected one of {known}")
    if families != [EMBEDDERS]:
        for key, given in (
            ("similarity", condition.similarity != "cosine"),
            ("vectors", condition.vectors),
        ):
            if given:
                raise ConfigError(f"{source}: {condition.method} has no {key}; leave it out")
    if (families == [RERANKERS]) != bool(condition.inputs):
        need = (
            "needs inputs, rows to take the runs of" if not condition.inputs else "takes no inputs"
        )
        raise ConfigError(f"{source}: {condition.method} {need}")
    method = families[0][condition.method]
    try:
        return tuple(resolve_settings(method, setting_words(settings), condition.method))
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error


def left_out(condition: Row, only: list[str]) -> str:
    """Return why a row is not made here; empty where it is."""
    if not condition.gpu or condition.name in only:
        return ""
    import torch

    return "" if torch.cuda.is_available() else f"no GPU; --only {condition.name} makes it anyway"


def steps_of(
    condition: Row,
    corpus: Path,
    settings: Settings,
    vectors: Path,
    run: Path,
    splits: tuple[str, ...] = (),
) -> list[Step]:
    """Return the steps that make a condition.

    :param vectors: directory for those of a dense method.
    :param run: directory for the runs of a method.
    :param splits: that a method ranks for; empty: all.
    """
    if condition.recipe:
        return recipe_steps(condition, corpus.name, settings)
    if condition.method in LEXICAL.names():
        return lexical_steps(condition, corpus, settings, run, splits)
    if condition.method in RERANKERS.names():
        return rerank_steps(condition, corpus, settings, run, splits)
    return dense_steps(condition, corpus, settings, vectors, run, splits)


def execute(step: Step, log: Path | None = None, run: Path | None = None) -> Measured:
    """Run a step to its end.

    :param log: file of the records that say when it began and what it took; None: none is kept.
    :param run: what the records say that it is for.
    """
    if log:
        append_record(log, {"step": step.name, "event": "started", "run": str(run)})
    return run_measured(step.command, step_environment(), log, step.name)


def cost_of(condition: Row, corpus: str, settings: Settings) -> RowCost | None:
    """Return what it took to make a row; None where that is not known."""
    steps = steps_of(condition, Path(corpus), settings, Path("vectors"), Path("run"))
    resumes = bool(condition.recipe) or any(
        condition.method in family.names() and family[condition.method].resumes
        for family in (EMBEDDERS, RERANKERS)
    )
    return row_cost(read_cost(corpus, condition.name), [step.name for step in steps], resumes)


def cost_with_inputs(
    name: str, conditions: Sequence[Row], corpus: str, tuned: Tuned
) -> RowCost | None:
    """Return what it took to make a row and all rows that it takes something of, each once.

    :param conditions: all of the corpus, in order.
    """
    by_name = {condition.name: condition for condition in conditions}
    needed = {name}
    for condition in reversed(conditions):  # a row stands after those that it needs
        if condition.name in needed:
            needed.update(condition.needs)
    costs = {
        row: cost_of(by_name[row], corpus, effective_settings(by_name[row], tuned.settings(row)))
        for row in needed
    }
    if None in costs.values():
        return None
    own = costs.pop(name)
    return own.with_others(list(costs.values()))


def outdated(condition: Row, corpus: Path, settings: Settings) -> str:
    """Return what is wrong with outputs of a row that exist but were made otherwise, or nothing."""
    runs = condition.run_directory(corpus.name, settings)
    if condition.recipe:
        return _outdated_recipe(condition, corpus, runs, settings)
    vectors = condition.vectors_directory(corpus.name)
    found: list[Path] = []
    for step in steps_of(condition, corpus, settings, vectors, runs):
        output = _config_of(step).output
        try:
            if found and output.exists():  # what it was made from has to be made anew
                found.append(output)
            _is_finished(step)
        except OutputError:
            found.append(output)
    if not found:
        return ""
    places = " and ".join(map(str, dict.fromkeys(found)))
    return f"{places}: made with other settings or inputs than these (see config.yaml there)"


def _outdated_recipe(condition: Row, corpus: Path, runs: Path, settings: Settings) -> str:
    if not (runs / MANIFEST).exists():
        return ""
    try:
        made_from = read_manifest(runs).get("inputs", {}).get(corpus.name)
    except MpbertError as error:
        return str(error)
    if made_from not in (None, fingerprint(corpus)):
        return f"{runs}: made from another corpus of this name"
    known = {r["step"] for r in read_cost(corpus.name, condition.name) if r.get("run") == str(runs)}
    last = condition.commands(corpus.name, settings)[-1]
    if known and last not in known:
        return f"{runs}: made by other command lines (see {cost_file(corpus.name, condition.name)})"
    return ""


def _make(condition: Row, corpus: Path, settings: Settings, label: str) -> str:
    """Make what a row lacks; return what went wrong, or nothing."""
    if problem := outdated(condition, corpus, settings):
        return f"{problem}; remove what is named, and run this again"
    try:
        with claimed(cost_file(corpus.name, condition.name)):
            return _make_claimed(condition, corpus, settings, label)
    except OutputError as error:
        return str(error)


def _make_claimed(condition: Row, corpus: Path, settings: Settings, label: str) -> str:
    runs = condition.run_directory(corpus.name, settings)
    if condition.recipe and (runs / MANIFEST).exists():
        logger.info("%s: finished", label)
        return ""
    log = cost_file(corpus.name, condition.name)
    vectors = condition.vectors_directory(corpus.name)
    seconds = []
    for step in steps_of(condition, corpus, settings, vectors, runs):
        if not step.is_recipe and _is_finished(step):
            continue
        logger.info("%s: %s ...", label, step.name)
        found = execute(step, log, runs)
        seconds.append(found.seconds)
        if found.exit_code:
            return f"{step.name} ended with {found.exit_code}: {found.last_line}"
    if condition.recipe and not (runs / MANIFEST).exists():
        return f"the recipe ended well, but {runs} is no finished output; correct recipe or run"
    logger.info("%s: %s", label, f"made in {sum(seconds):.1f} s" if seconds else "finished")
    return ""


def _config_of(step: Step) -> fit.Config | retrieve.Config:
    return parse_config(_COMMANDS[step.words[0]].Config, step.words[0], step.words[1:])


def _is_finished(step: Step) -> bool:
    config = _config_of(step)
    inputs = _COMMANDS[step.words[0]].inputs_of(config)
    return is_finished(config.output, step.words[0], config, inputs)
