"""The trials of rows: which is begun next, under the budget, and what came of each."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mpbert.evaluation.tuned import TunedRow
from mpbert.experiments.cost import append_record, read_records
from mpbert.experiments.experiment import Variant
from mpbert.experiments.processes import Beside
from mpbert.experiments.rows import Row, effective_settings
from mpbert.experiments.steps import setting_words
from mpbert.experiments.trials import Tuning, key_of, plan_trials, try_variant
from mpbert.experiments.tuning import Trial, best_of, still_fits

logger = logging.getLogger(__name__)


class RowTrials:
    """The trials of a row: which is begun next, and what came of each.

    What was tried before is not tried again. Trials may be made in several threads; only one may
    begin and end them.

    :param most: trials, within the budget; None: as many as it has room for.
    :param label: what its messages begin with.
    :raises ConfigError: a value of the space is none of the setting's.
    """

    def __init__(self, tuning: Tuning, row: Row, most: int | None, label: str) -> None:
        self.row, self.label = row, label
        self._tuning, self._most, plan = tuning, most, plan_trials(tuning, row)
        self._space_size, self._plan = len(plan), plan[:most]
        self._hours = tuning.budget.cpu_hours - row.developed.get(tuning.experiment.corpus.name, 0)
        self._log, self._corpus_id = tuning.trials / f"{row.name}.jsonl", tuning.corpus_id
        self._variants = [Variant(row, effective_settings(row, each)) for each in self._plan]
        self._known = self._made_before()
        self._trials: dict[int, Trial | None] = {}  # of those that were begun; None: it runs
        numbers = range(len(self._plan))
        if any(number not in self._known for number in numbers[: max(self._known, default=0)]):
            self._trials.update(self._known)  # a kill left one out that others had followed

    @property
    def most(self) -> int:
        """Most trials that are still to be made."""
        return len(self._plan) - len(self._known)

    @property
    def is_over(self) -> bool:
        """Whether all trials have ended, and no other is begun."""
        return None not in self._trials.values() and self._next() is None

    def begin(self) -> int | None:
        """Return the number of a trial that is begun now; None: none before one has ended."""
        number = self._next()
        if number is not None:
            self._trials[number] = None
        return number

    def make(self, number: int, beside: Beside | None) -> Trial:
        """Make a trial, and keep its record unless a signal ended it.

        :raises StoppedError: SIGTERM ended it.
        """
        tuning, variant = self._tuning, self._variants[number]
        label = f"{self.label}, trial {number + 1}/{self._space_size}"
        logger.info("%s: %s ...", label, " ".join(setting_words(variant.settings)))
        key = key_of(tuning, variant)  # of the inputs as they are now
        place = tuning.experiment.layout.tuning(tuning.experiment.corpus.name, self.row.name)
        record = try_variant(tuning, variant, place / str(number), label, beside)
        if record["exit_code"] >= 0:
            append_record(self._log, {"corpus": self._corpus_id, "key": key, **record})
        return self._trial(number, record)

    def end(self, number: int, trial: Trial) -> None:
        """Take what came of a trial."""
        self._trials[number] = trial

    def outcome(self) -> TunedRow | None:
        """Return the best of the trials, all of which have ended; None: all failed."""
        trials = [self._trials[number] for number in sorted(self._trials)]
        spent = sum(trial.cpu_seconds for trial in trials)
        failed = sum(trial.score is None for trial in trials)
        again = f", {failed} failed: --only {self.row.name} tries these again" if failed else ""
        logger.info("%s: trials: %d, %.0f CPU s%s", self.label, len(trials), spent, again)
        best = best_of(trials, self._space_size)
        return best and replace(best, most=self._most)

    def _next(self) -> int | None:
        """Return the number of a trial that may be begun, past those that are known and fit."""
        for number in range(len(self._plan)):
            if number in self._trials:
                continue
            if not self._fits():
                return None
            if number not in self._known:
                return number
            self._trials[number] = self._known[number]
        return None

    def _fits(self) -> bool:
        ended = [trial for trial in self._trials.values() if trial]
        running = len(self._trials) - len(ended)
        if running and all(trial.score is None for trial in ended):
            return False  # what one costs is not known
        return still_fits([trial.cpu_seconds for trial in ended], self._hours, running)

    def _made_before(self) -> dict[int, Trial]:
        records = [r for r in read_records(self._log) if r["corpus"] == self._corpus_id]
        measure, by_key = self._tuning.budget.measure, {r.get("key"): r for r in records}
        if not by_key:
            return {}
        keys = [key_of(self._tuning, variant) for variant in self._variants]
        found = {number: by_key[key] for number, key in enumerate(keys) if key in by_key}
        return {n: self._trial(n, r) for n, r in found.items() if measure in r["scores"]}

    def _trial(self, number: int, record: Mapping[str, Any]) -> Trial:
        score = record["scores"].get(self._tuning.budget.measure)
        return Trial(self._plan[number], score, record["cpu_seconds"])


class AllTrials:
    """The trials of several rows, those of earlier rows first; a part is a row and a number.

    :param settle: takes a row as soon as all of its trials have ended.
    """

    def __init__(self, rows: Sequence[RowTrials], settle: Callable[[RowTrials], object]) -> None:
        self._open, self._settle = list(rows), settle
        self.most = sum(row.most for row in rows)

    def begin(self) -> tuple[RowTrials, int] | None:
        """Return a trial that is begun now; None: none before one has ended."""
        for row in list(self._open):
            number = row.begin()
            if number is not None:
                return row, number
            self._close(row)
        return None

    def end(self, part: tuple[RowTrials, int], found: Trial) -> None:
        """Take what came of a trial."""
        row, number = part
        row.end(number, found)
        self._close(row)

    def _close(self, row: RowTrials) -> None:
        if row.is_over:
            self._open.remove(row)
            self._settle(row)
