"""What it took to make a row, from the records of its steps."""

from mpbert.experiments.cost import RowCost, read_records, row_cost
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.identity import resumes
from mpbert.experiments.rows import with_needs
from mpbert.experiments.steps import steps_of


def cost_of(experiment: Experiment, variant: Variant) -> RowCost | None:
    """Return what it took to make a row; None where that is not known."""
    steps = [step.name for step in steps_of(experiment, variant)]
    if not steps:  # another system has made its run
        return None
    return row_cost(read_records(experiment.cost(variant)), steps, resumes(variant.row))


def cost_with_inputs(experiment: Experiment, name: str) -> RowCost | None:
    """Return what it took to make a row and all rows that it takes something of, each once."""
    needed = with_needs(list(experiment.rows.values()), {name})
    costs = {row: cost_of(experiment, experiment.variant(row)) for row in needed}
    if None in costs.values():
        return None
    own = costs.pop(name)
    return own.with_others(list(costs.values()))
