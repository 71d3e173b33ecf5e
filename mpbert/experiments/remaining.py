"""How long rows will take yet, from what the same rows or others took."""

from collections.abc import Sequence
from statistics import fmean

from mpbert.experiments.cost import read_records
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.outputs import output_of
from mpbert.experiments.row_cost import cost_of
from mpbert.experiments.steps import Step


class Remaining:
    """The rows that are to be made, of which some are made already.

    :param planned: in their order, each with its first seed, too; rows that are left out are not
        among them.
    :param at_once: how many are made at the same time.
    """

    def __init__(
        self, experiment: Experiment, planned: Sequence[Variant], at_once: int = 1
    ) -> None:
        self._experiment, self._planned = experiment, planned
        self._at_once = max(min(at_once, len(planned)), 1)
        self._took: dict[tuple[str, int], float | None] = {}  # by row and seed
        self._ended: set[tuple[str, int]] = set()
        for variant in planned:
            self._read(variant)

    def end(self, variant: Variant) -> None:
        """Take a row as ended, and read what it took."""
        self._read(variant)
        self._ended.add((variant.row.name, variant.seed))

    def seconds(self, variant: Variant, steps: Sequence[Step], spent: float) -> tuple[float, int]:
        """Return how long a row and all others will take, and of how many of them nothing is known.

        A row takes what it took the last time, or with its first seed; any other what the known
        rows of its method took on average.

        :param steps: of the row that are not made yet.
        :param spent: seconds on steps of the row that are made.
        """
        records = read_records(self._experiment.cost(variant))
        took = {r.get("output"): r["seconds"] for r in records if r.get("exit_code") == 0}
        outputs = [str(output_of(step)) for step in steps]
        if all(output in took for output in outputs):
            here = sum(took[output] for output in outputs)
        else:
            whole = self._known(variant)
            here = None if whole is None else max(whole - spent, 0.0)
        left = [each for each in self._planned if each is not variant and not self._is_made(each)]
        all_of_them = [here, *(self._known(each) for each in left)]
        known = [took for took in all_of_them if took is not None]
        seconds = max(sum(known) / self._at_once, here or 0.0)
        return seconds, len(all_of_them) - len(known)

    def _read(self, variant: Variant) -> None:
        cost = cost_of(self._experiment, variant)
        self._took[variant.row.name, variant.seed] = cost.seconds if cost else None

    def _known(self, variant: Variant) -> float | None:
        """Return what a row took, or with its first seed, or rows of its method on average."""
        row = variant.row
        for key in ((row.name, variant.seed), (row.name, 1)):
            if self._took.get(key) is not None:
                return self._took[key]
        alike = {each.row.name for each in self._planned if each.row.method == row.method}
        told = [
            took for (name, _), took in self._took.items() if name in alike and took is not None
        ]
        return fmean(told) if told else None

    def _is_made(self, variant: Variant) -> bool:
        has_ended = (variant.row.name, variant.seed) in self._ended
        return has_ended or bool(variant.row.run) or self._experiment.runs(variant).exists()
