"""What papers state, for the rows of one experiment."""

from collections.abc import Sequence

from mpbert.evaluation.claims import Claim
from mpbert.evaluation.paper_tables import PaperTable
from mpbert.evaluation.statements import Statements
from mpbert.experiments.claim_files import check_depth, claims_of_task, task_of
from mpbert.experiments.experiment import Experiment


def statements_of(
    experiment: Experiment, task: str, claims: Sequence[Claim], tables: Sequence[PaperTable]
) -> Statements:
    """Return what is measured on the rows of a task.

    :raises ConfigError: a claim or table names rows of two tasks, or looks too deep.
    """
    rows = experiment.rows
    of_task = [
        table
        for table in tables
        if task_of([r.row for r in table.rows], rows, f"table {table.name}") == task
    ]
    for table in of_task:
        for measure, _ in table.columns:
            check_depth(measure, task, f"table {table.name}")
    return Statements(claims_of_task(claims, rows, task), of_task, frozenset(rows))
