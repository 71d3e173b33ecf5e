"""The trials of rows: which is begun next, under the budget, and what came of each."""

import logging
from collections.abc import Callable, Mapping, Sequence
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

    What was tried before is not tried again.

    :param most: trials, those of before among them; None: as many as the budget has room for.
    :param label: what its messages begin with.
    :raises ConfigError: a value of the space is none of the setting's.
    """

    def __init__(self, tuning: Tuning, row: Row, most: int | None, label: str) -> None:
        self.row, self.label, self.log = row, label, tuning.trials / f"{row.name}.jsonl"
        plan = plan_trials(tuning, row)
        self._tuning, self._space_size, self._plan = tuning, len(plan), plan[:most]
        self._hours = tuning.budget.cpu_hours - row.developed.get(tuning.experiment.corpus.name, 0)
        self._trials: list[Trial | None] = []  # of those that were begun; None: it runs
        self._known: dict[str, dict[str, Any]] | None = None

    @property
    def running(self) -> int:
        """Trials that were begun and have not ended."""
        return sum(trial is None for trial in self._trials)

    @property
    def most(self) -> int:
        """Most trials that there may be."""
        return len(self._plan)

    def begin(self) -> int | None:
        """Return the number of a trial that is begun now; None: no other before one ends."""
        while len(self._trials) < len(self._plan):
            if not still_fits(self._spent, self._hours, self.running):
                return None
            number = len(self._trials)
            self._trials.append(self._before(number))
            if self._trials[-1] is None:
                return number
        return None

    def make(self, number: int, beside: Beside | None) -> Trial:
        """Make a trial, and keep its record unless a signal ended it.

        :raises StoppedError: SIGTERM ended it.
        """
        tuning, variant = self._tuning, self._variant(number)
        label = self.name(number)
        logger.info("%s: %s ...", label, " ".join(setting_words(variant.settings)))
        place = tuning.experiment.layout.tuning(tuning.experiment.corpus.name, self.row.name)
        record = try_variant(tuning, variant, place / str(number), label, beside)
        if record["exit_code"] >= 0:
            key = key_of(tuning, variant)
            append_record(self.log, {"corpus": tuning.corpus_id, "key": key, **record})
        return self._trial(number, record)

    def end(self, number: int, trial: Trial) -> None:
        """Take what came of a trial."""
        self._trials[number] = trial

    def outcome(self) -> TunedRow | None:
        """Return the best of the trials, all of which have ended; None: all failed."""
        spent = self._spent
        if len(self._trials) < self._space_size:
            logger.info(
                "%s: %d trials took %.0f CPU s, no more", self.label, len(spent), sum(spent)
            )
        return best_of(self._trials, self._space_size)

    def name(self, number: int) -> str:
        """Return what messages of a trial begin with."""
        return f"{self.label}, trial {number + 1}/{self._space_size}"

    @property
    def _spent(self) -> list[float]:
        return [trial.cpu_seconds for trial in self._trials if trial]

    def _variant(self, number: int) -> Variant:
        return Variant(self.row, effective_settings(self.row, self._plan[number]))

    def _before(self, number: int) -> Trial | None:
        """Return what came of a trial that was made before; None: it is to be made."""
        if self._known is None:
            ours = (r for r in read_records(self.log) if r["corpus"] == self._tuning.corpus_id)
            self._known = {record.get("key"): record for record in ours}
        found = self._known.get(key_of(self._tuning, self._variant(number)))
        is_scored = found and self._tuning.budget.measure in found["scores"]
        return self._trial(number, found) if is_scored else None

    def _trial(self, number: int, record: Mapping[str, Any]) -> Trial:
        score = record["scores"].get(self._tuning.budget.measure)
        return Trial(self._plan[number], score, record["cpu_seconds"])


class AllTrials:
    """The trials of several rows, those of earlier rows first; a part is a row and a number.

    :param why_not: returns why a row is not tuned; empty where it is.
    :param settle: takes a row all of whose trials have ended.
    """

    def __init__(
        self,
        rows: Sequence[RowTrials],
        why_not: Callable[[RowTrials], str],
        settle: Callable[[RowTrials], object],
    ) -> None:
        self._open, self._why_not, self._settle = list(rows), why_not, settle
        self._is_begun = set[str]()
        self.most = sum(row.most for row in rows)

    def begin(self) -> tuple[RowTrials, int] | None:
        """Return a trial that is begun now; None: no other before one ends."""
        for row in list(self._open):
            if row.row.name not in self._is_begun:
                if reason := self._why_not(row):
                    logger.info("%s: %s", row.label, reason)
                    self._open.remove(row)
                    continue
                self._is_begun.add(row.row.name)
            number = row.begin()
            if number is not None:
                return row, number
            if not row.running:
                self._open.remove(row)
                self._settle(row)
        return None

    def end(self, part: tuple[RowTrials, int], found: Trial) -> None:
        """Take what came of a trial."""
        row, number = part
        row.end(number, found)
