"""Run steps, each as a process of its own."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import mpbert
from mpbert.experiments.at_once import run_at_once
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
    names: Sequence[str],
    needs: Sequence[Collection[int]],
    act: Callable[[int, Beside | None], object],
    at_once: int,
) -> None:
    """Call a function with 0, 1, ..., one after another or several at once, which share the cores.

    :param names: (N,) labels of the lines that steps write which run beside others.
    :param needs: (N,) what each waits for, as :func:`run_at_once` takes it.
    :param act: gets a number, and what its steps are told: nothing where they run alone.
    """
    at_once = min(at_once, len(names))  # one alone has all cores
    if at_once <= 1:
        for number in range(len(names)):
            act(number, None)
        return
    stop, threads = Stop(), max(cores() // at_once, 1)
    run_at_once(needs, lambda n: act(n, Beside(names[n], threads, stop)), at_once, stop.ask)


def step_environment() -> dict[str, str]:
    """Return the environment of steps: this Python and this package, and lines as they come."""
    package = str(Path(mpbert.__file__).resolve().parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUNBUFFERED": "1",
    }
