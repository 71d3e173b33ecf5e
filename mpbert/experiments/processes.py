"""Run steps, each as a process of its own."""

import os
from pathlib import Path

import mpbert
from mpbert.experiments.cost import append_record
from mpbert.experiments.measured import Measured, run_measured
from mpbert.experiments.outputs import output_of
from mpbert.experiments.steps import Step


def execute(step: Step, log: Path | None = None) -> Measured:
    """Run a step to its end.

    :param log: file of the records that say when it began and what it took; None: none is kept.
    """
    if not log:
        return run_measured(step.command, step_environment())
    named = {"step": step.name, "output": str(output_of(step))}
    append_record(log, {**named, "event": "started"})
    return run_measured(step.command, step_environment(), log, named)


def step_environment() -> dict[str, str]:
    """Return the environment of steps: this Python and this package, and lines as they come."""
    package = str(Path(mpbert.__file__).resolve().parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUNBUFFERED": "1",
    }
