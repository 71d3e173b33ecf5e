"""Run steps, each as a process of its own."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpbert
from mpbert.experiments.at_once import Agenda, run_at_once
from mpbert.experiments.cost import append_record
from mpbert.experiments.measured import Measured, Stop, cores, run_measured
from mpbert.experiments.outputs import output_of
from mpbert.experiments.steps import Step

_THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")  # torch, ours, tokenizers


@dataclass(frozen=True)
class Beside:
    """What a step is told that runs beside others.

    :param label: what stands before the lines that it writes.
    :param threads: that it computes with, unless variables of the environment say otherwise.
    :param stop: asks all of them to end.
    """

    label: str
    threads: int
    stop: Stop


def execute(step: Step, log: Path | None = None, beside: Beside | None = None) -> Measured:
    """Run a step to its end.

    :param log: file of the records that say when it began and what it took; None: none is kept.
    :param beside: None: it runs alone.
    :raises StoppedError: all were asked to end before it was begun.
    """
    if beside:
        beside.stop.check()
    environment, named, others = step_environment(), {}, {}
    if log:
        named = {"step": step.name, "output": str(output_of(step))}
        append_record(log, {**named, "event": "started"})
    if beside:
        others = {"label": beside.label, "stop": beside.stop}
        environment = {**dict.fromkeys(_THREADS, str(beside.threads)), **environment}
    return run_measured(step.command, environment, log, named, **others)


def work_through(
    agenda: Agenda,
    label_of: Callable[[Any], str],
    act: Callable[[Any, Beside | None], Any],
    at_once: int,
) -> None:
    """Call a function with the parts of an agenda, one after another or several at once.

    Those at once share the cores.

    :param label_of: what stands before the lines that the steps of a part write beside others.
    :param act: gets a part, and what its steps are told: nothing where they run alone.
    """
    at_once = min(at_once, agenda.most)  # one alone has all cores
    if at_once <= 1:
        while (part := agenda.begin()) is not None:
            agenda.end(part, act(part, None))
        return
    stop, threads = Stop(), max(cores() // at_once, 1)

    def act_beside(part: Any) -> Any:
        return act(part, Beside(label_of(part), threads, stop))

    run_at_once(agenda, act_beside, at_once, stop.ask)


def step_environment() -> dict[str, str]:
    """Return the environment of steps: this Python and this package, and lines as they come."""
    package = str(Path(mpbert.__file__).resolve().parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
