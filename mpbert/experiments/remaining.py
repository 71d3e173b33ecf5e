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

    def seconds(self, variant: Variant, steps: Sequence[Step], spent: float) -> float | None:
        """Return how long a row and all others will take; None: no row is known to have ended.

        A row takes what it took the last time, or with its first seed; any other what the known
        rows took on average.

        :param steps: of the row that are not made yet.
        :param spent: seconds on steps of the row that are made.
        """
        known = [self._known(each) for each in self._planned]
        told = [cost for cost in known if cost is not None]
        records = read_records(self._experiment.cost(variant))
        took = {r.get("output"): r["seconds"] for r in records if r.get("exit_code") == 0}
        number = self._planned.index(variant)
        others = [
            cost
            for each, cost in zip(self._planned, known, strict=True)
            if each is not variant and not self._is_made(each)
        ]
        outputs = [str(output_of(step)) for step in steps]
        is_known = all(output in took for output in outputs)
        if not told and (others or not is_known):
            return None
        mean = fmean(told) if told else 0.0
        if is_known:
            here = sum(took[output] for output in outputs)
        else:
            here = max((mean if known[number] is None else known[number]) - spent, 0.0)
        others_take = sum(mean if cost is None else cost for cost in others)
        return max((here + others_take) / self._at_once, here)

    def _read(self, variant: Variant) -> None:
        cost = cost_of(self._experiment, variant)
        self._took[variant.row.name, variant.seed] = cost.seconds if cost else None

    def _known(self, variant: Variant) -> float | None:
        """Return what a row took, or what it took with its first seed."""
        own = self._took[variant.row.name, variant.seed]
        return self._took[variant.row.name, 1] if own is None else own

    def _is_made(self, variant: Variant) -> bool:
        has_ended = (variant.row.name, variant.seed) in self._ended
        return has_ended or bool(variant.row.run) or self._experiment.runs(variant).exists()
