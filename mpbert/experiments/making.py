"""Make rows: what is not finished is made, step by step; a row that fails leaves the rest alone."""

import logging
from collections.abc import Collection, Sequence
from itertools import product

from mpbert.experiments.at_once import Locks, Waiting
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.identity import check_row
from mpbert.experiments.outputs import is_done, outdated, output_of
from mpbert.experiments.processes import Beside, execute, work_through
from mpbert.experiments.remaining import Remaining
from mpbert.experiments.row_results import remarks_on_run
from mpbert.experiments.rows import Choice, Row
from mpbert.experiments.seeds import takes_seeds
from mpbert.experiments.steps import steps_of
from mpbert.foundation.errors import OutputError, RowsFailedError, RunError, StoppedError
from mpbert.foundation.manifest import claimed
from mpbert.foundation.progress import time_left

logger = logging.getLogger(__name__)


def make_rows(experiment: Experiment, choice: Choice, seeds: int = 1, at_once: int = 1) -> None:
    """Make rows in the order of the report; name those that failed.

    :param experiment: with at least the rows of the choice.
    :param seeds: how many seeds trained rows are trained with.
    :param at_once: how many rows are made at the same time; they share the cores.
    :raises ConfigError: a row is wrong; nothing was begun.
    :raises RowsFailedError: a row failed that is not optional.
    :raises StoppedError: SIGTERM ended a step; what is left was not begun.
    """
    rows = choice.rows
    for row in rows:
        check_row(experiment, row.name)
    if choice.others:
        rows_are = "1 row for other corpora or of the appendix; --only makes it"
        if choice.others > 1:
            rows_are = (
                f"{choice.others} rows for other corpora or of the appendix; --only makes some"
            )
        logger.info("left out: %s", rows_are)
    if choice.needed:
        logger.info("made first, since others need them: %s", ", ".join(choice.needed))
    planned = variants_of(experiment, choice, seeds)
    making = _Making(experiment, planned, choice.named, at_once)
    work_through(Waiting(making.needs()), lambda n: _label_of(planned[n]), making.make, at_once)
    _tell([row for row in rows if row.name in making.failed_names()], len(rows))


def variants_of(experiment: Experiment, choice: Choice, seeds: int) -> list[Variant]:
    """Return each row asked for, of each seed, behind what it needs; the first seed comes first."""
    asked = [row.name for row in choice.rows if row.name not in choice.needed]
    wanted = set(product(asked, range(1, seeds + 1)))
    found = []
    for seed, row in product(range(seeds, 0, -1), reversed(choice.rows)):
        if (row.name, seed) in wanted and (seed == 1 or takes_seeds(experiment.rows, row.name)):
            found.append(experiment.variant(row.name, seed))
            wanted |= {(each.row.name, each.seed) for each in experiment.needs(found[-1])}
    return found[::-1]


class _Making:
    """Rows that are made, each by one call; of those that are made at once, each by a thread."""

    def __init__(
        self,
        experiment: Experiment,
        planned: Sequence[Variant],
        named: Collection[str],
        at_once: int,
    ) -> None:
        self._experiment, self._planned, self._named = experiment, planned, named
        self._failed: set[tuple[str, int]] = set()  # name of a row and seed
        kept = [variant for variant in planned if not left_out(variant.row, named)]
        self._remaining = Remaining(experiment, kept, at_once)
        self._outputs = Locks()

    def needs(self) -> list[set[int]]:
        """Return the numbers of the rows that each row waits for."""
        places = {(each.row.name, each.seed): i for i, each in enumerate(self._planned)}
        found = [{places.get(key) for key in self._taken(each)} for each in self._planned]
        return [numbers - {None} for numbers in found]

    def failed_names(self) -> set[str]:
        """Return the names of the rows of which a seed failed."""
        return {name for name, _ in self._failed}

    def make(self, number: int, beside: Beside | None) -> None:
        """Make a row, or say why it is not made.

        :param beside: what its steps are told where other rows are made at the same time.
        """
        variant = self._planned[number]
        row, label = variant.row, f"[{number + 1}/{len(self._planned)}] {_label_of(variant)}"
        if reason := left_out(row, self._named):
            logger.info("%s: left out, %s", label, reason)
            return
        if problem := self._missing(variant) or self._make(variant, label, beside):
            logger.info("%s: failed, %s", label, problem)
            self._failed.add((row.name, variant.seed))
        self._remaining.end(variant)

    def _taken(self, variant: Variant) -> list[tuple[str, int]]:
        """Return name and seed of each row that a row takes something of."""
        return [(each.row.name, each.seed) for each in self._experiment.needs(variant)]

    def _missing(self, variant: Variant) -> str:
        """Return what a row needs and failed; nothing where there is none."""
        wrong = [name for name, seed in self._taken(variant) if (name, seed) in self._failed]
        return f"it needs what failed: {', '.join(wrong)}" if wrong else ""

    def _make(self, variant: Variant, label: str, beside: Beside | None) -> str:
        """Make what a row lacks; return what went wrong, or nothing."""
        if variant.row.run:
            return _check_given(self._experiment, variant, label)
        if problem := outdated(self._experiment, variant):
            return f"{problem}; remove what is named, and run this again"
        try:
            with claimed(self._experiment.cost(variant)):
                return self._make_claimed(variant, label, beside)
        except OutputError as error:
            return str(error)

    def _make_claimed(self, variant: Variant, label: str, beside: Beside | None) -> str:
        seconds: list[float] = []
        steps = steps_of(self._experiment, variant)
        for number, step in enumerate(steps):
            with self._outputs.of(output_of(step)):  # rows that share it make it once
                if is_done(step):
                    continue
                left = self._remaining.seconds(variant, steps[number:], sum(seconds))
                logger.info("%s: %s ...%s", label, step.name, _left_for_all(*left))
                found = execute(step, self._experiment.cost(variant), beside)
            seconds.append(found.seconds)
            if found.was_stopped:
                raise StoppedError(
                    f"{label}: {step.name} was stopped; run this again, and it goes on"
                )
            if found.exit_code:
                return f"{step.name} ended with {found.exit_code}: {found.last_line}"
        logger.info("%s: %s", label, f"made in {sum(seconds):.1f} s" if seconds else "finished")
        return ""


def _left_for_all(seconds: float, num_unknown: int) -> str:
    """Return the words on what all rows take yet, for a line of the log."""
    if not num_unknown:
        return f"{time_left(seconds)} for all rows"
    rows = f"{num_unknown} row{'s' * (num_unknown > 1)} of a method that was not timed here yet"
    return f"{time_left(seconds)} without {rows}" if seconds else f", time left not known: {rows}"


def _label_of(variant: Variant) -> str:
    return variant.row.name + f", seed {variant.seed}" * (variant.seed > 1)


def left_out(row: Row, named: Collection[str]) -> str:
    """Return why a row is not made here; empty where it is.

    :param named: rows that are made whatever it takes.
    """
    if not row.gpu or row.name in named:
        return ""
    import torch

    return "" if torch.cuda.is_available() else f"no GPU; --only {row.name} makes it anyway"


def _tell(failed: Sequence[Row], num_rows: int) -> None:
    if not failed:
        return
    names = ", ".join(row.name + " (optional)" * row.optional for row in failed)
    message = f"{len(failed)} of {num_rows} rows failed: {names}; see above"
    if not all(row.optional for row in failed):
        raise RowsFailedError(f"{message}, and run this again: what is finished is reused")
    logger.info(message)


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
