"""Make rows: what is not finished is made, step by step; a row that fails leaves the rest alone."""

import logging
from collections.abc import Collection

from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.identity import check_row
from mpbert.experiments.outputs import is_done, outdated
from mpbert.experiments.processes import execute
from mpbert.experiments.remaining import Remaining
from mpbert.experiments.row_results import remarks_on_run
from mpbert.experiments.rows import Choice, Row
from mpbert.experiments.seeds import takes_seeds
from mpbert.experiments.steps import steps_of
from mpbert.foundation.errors import OutputError, RowsFailedError, RunError, StoppedError
from mpbert.foundation.manifest import claimed
from mpbert.foundation.progress import time_left

logger = logging.getLogger(__name__)


def make_rows(experiment: Experiment, choice: Choice, seeds: int = 1) -> None:
    """Make rows in the order of the report; name those that failed.

    :param experiment: with at least the rows of the choice.
    :param seeds: how many seeds trained rows are trained with.
    :raises ConfigError: a row is wrong; nothing was begun.
    :raises RowsFailedError: a row failed that is not optional.
    :raises StoppedError: SIGTERM ended a step; what is left was not begun.
    """
    rows = choice.rows
    for row in rows:
        check_row(experiment, row.name)
    if choice.others:
        rows_are = "1 row for other corpora; --only makes it"
        if choice.others > 1:
            rows_are = f"{choice.others} rows for other corpora; --only makes one of them"
        logger.info("left out: %s", rows_are)
    if choice.needed:
        logger.info("made first, since others need them: %s", ", ".join(choice.needed))
    planned = [
        experiment.variant(row.name, seed)
        for seed in range(1, seeds + 1)
        for row in rows
        if seed == 1 or takes_seeds(experiment.rows, row.name)
    ]
    kept = [variant for variant in planned if not left_out(variant.row, choice.named)]
    remaining = Remaining(experiment, kept)
    failed: dict[str, bool] = {}  # name of a row to whether it may fail
    for number, variant in enumerate(planned, start=1):
        row, seed = variant.row, variant.seed
        label = f"[{number}/{len(planned)}] {row.name}" + f", seed {seed}" * (seed > 1)
        if reason := left_out(row, choice.named):
            logger.info("%s: left out, %s", label, reason)
        elif problem := _missing(row, failed) or _make(experiment, variant, label, remaining):
            logger.info("%s: failed, %s", label, problem)
            failed[row.name] = row.optional
    _tell(failed, len(rows))


def left_out(row: Row, named: Collection[str]) -> str:
    """Return why a row is not made here; empty where it is.

    :param named: rows that are made whatever it takes.
    """
    if not row.gpu or row.name in named:
        return ""
    import torch

    return "" if torch.cuda.is_available() else f"no GPU; --only {row.name} makes it anyway"


def _missing(row: Row, failed: Collection[str]) -> str:
    """Return what a row needs and failed; nothing where there is none."""
    wrong = [name for name in row.needs if name in failed]
    return f"it needs what failed: {', '.join(wrong)}" if wrong else ""


def _tell(failed: dict[str, bool], num_rows: int) -> None:
    if not failed:
        return
    names = ", ".join(row + " (optional)" * optional for row, optional in failed.items())
    message = f"{len(failed)} of {num_rows} rows failed: {names}; see above"
    if not all(failed.values()):
        raise RowsFailedError(f"{message}, and run this again: what is finished is reused")
    logger.info(message)


def _make(experiment: Experiment, variant: Variant, label: str, remaining: Remaining) -> str:
    """Make what a row lacks; return what went wrong, or nothing."""
    if variant.row.run:
        return _check_given(experiment, variant, label)
    if problem := outdated(experiment, variant):
        return f"{problem}; remove what is named, and run this again"
    try:
        with claimed(experiment.cost(variant)):
            return _make_claimed(experiment, variant, label, remaining)
    except OutputError as error:
        return str(error)


def _check_given(experiment: Experiment, variant: Variant, label: str) -> str:
    """Tell what a run of another system lacks; return why it cannot be measured, or nothing."""
    found = [(split, experiment.run_of(variant, split)) for split in ("valid", "test")]
    found = [(split, path) for split, path in found if path.is_file()]
    if not found:
        return f"{experiment.run_of(variant, 'test')}: no such file; expected a TREC run"
    for split, path in found:
        try:
            remarks = remarks_on_run(experiment, variant, split)
        except RunError as error:
            return str(error)
        said = "; ".join(remarks) or "all queries are there"
        logger.info("%s: made elsewhere, %s (%s): %s", label, path, split, said)
    return ""


def _make_claimed(
    experiment: Experiment, variant: Variant, label: str, remaining: Remaining
) -> str:
    seconds: list[float] = []
    steps = steps_of(experiment, variant)
    for number, step in enumerate(steps):
        if is_done(step):
            continue
        left = remaining.seconds(variant, steps[number:], sum(seconds))
        for_all = f"{time_left(left)} for all rows" if left is not None else ""
        logger.info("%s: %s ...%s", label, step.name, for_all)
        found = execute(step, experiment.cost(variant))
        seconds.append(found.seconds)
        if found.was_stopped:
            raise StoppedError(f"{label}: {step.name} was stopped; run this again, and it goes on")
        if found.exit_code:
            return f"{step.name} ended with {found.exit_code}: {found.last_line}"
    if seconds:
        remaining.read(variant)
    logger.info("%s: %s", label, f"made in {sum(seconds):.1f} s" if seconds else "finished")
    return ""
