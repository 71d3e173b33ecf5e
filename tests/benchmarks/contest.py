"""What the benchmarks share: contestants take turns, the median counts, one row of a table each.

The rows are Markdown; ``eval/benchmarks.sh`` collects them. Peak memory is that of this process,
with everything it held before, such as the data; files that it maps count as far as they were read.
"""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

INDEX = os.environ.get("INDEX", "runs/index/rfc")  # of those that ask an index
_PEAK_COUNTER = Path("/proc/self/clear_refs")  # Linux: writing 5 makes the peak what is held now


@dataclass(frozen=True)
class Cost:
    """Median times and largest memory of a contestant.

    :param result: what its last run returned.
    :param computed: seconds of the processor, of all threads.
    """

    seconds: float
    peak_mib: float
    result: object
    computed: float


def contest(
    contestants: dict[str, Callable[[], object]], rounds: int = 5, warm_up: bool = True
) -> dict[str, Cost]:
    """Let all run in turn, since machines are noisy, and return what each costs.

    :param warm_up: run each once before, not counted: first calls compile or read from disk.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    computed: dict[str, list[float]] = {name: [] for name in contestants}
    peaks = dict.fromkeys(contestants, 0.0)
    results: dict[str, object] = {}
    for number in range(rounds + warm_up):
        for name, run in contestants.items():
            results.pop(name, None)  # two results of one contestant are not its peak
            forget_peak()
            start, before = time.perf_counter(), time.process_time()
            results[name] = run()
            seconds = time.perf_counter() - start
            spent = time.process_time() - before
            if number >= warm_up:
                times[name].append(seconds)
                computed[name].append(spent)
                peaks[name] = max(peaks[name], peak_mib())
    return {
        name: Cost(
            statistics.median(times[name]),
            peaks[name],
            results[name],
            statistics.median(computed[name]),
        )
        for name in contestants
    }


def raw_acl() -> Path:
    """Return the raw ACL corpus, named by the environment."""
    if not os.environ.get("RAW_ACL"):
        raise SystemExit("RAW_ACL is not set; set it to papers.jsonl.xz of the ACL Anthology")
    return Path(os.environ["RAW_ACL"])


def run_command(*arguments: object) -> tuple[float, float]:
    """Run ``mpbert`` with these arguments in a process of its own.

    :returns: seconds, and MiB of its largest process.
    """
    forget_peak()  # a child begins with the peak of the process that starts it
    command = [sys.executable, "-m", "mpbert", *map(str, arguments)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(message)
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def ended_cpu_seconds() -> float:
    """Return the processor time of all processes that have ended below this one."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def print_row(
    what: str, against: str, goal: str, ratio: float | str, ours: str, theirs: str, peaks: str
) -> None:
    """Print one row of the table: what was measured, beside what, and the numbers."""
    shown = ratio if isinstance(ratio, str) else f"{ratio:.2f}"
    print(f"| {what} | {against} | {goal} | {shown} | {ours} | {theirs} | {peaks} |", flush=True)


def print_contest(what: str, against: str, goal: str, ours: Cost, theirs: Cost) -> None:
    """Print the row of two contestants that did the same work: times and their ratio."""
    print_row(
        what,
        against,
        goal,
        theirs.seconds / ours.seconds,
        f"{ours.seconds:.3g} s",
        f"{theirs.seconds:.3g} s",
        f"{ours.peak_mib:,.0f} / {theirs.peak_mib:,.0f}",
    )


def print_computed(ours: Cost, theirs: Cost) -> None:
    """Print seconds of the processor, which depend little on other work on the machine."""
    print(
        f"computed in {ours.computed:.3g} s, theirs {theirs.computed:.3g} s: "
        f"ratio {theirs.computed / ours.computed:.2f}"
    )


def print_rates(
    what: str, against: str, goal: str, ours: Cost, theirs: Cost, amount: float, unit: str
) -> None:
    """Print the row of two contestants that did the same amount of work: rates and their ratio."""
    seconds = ours.seconds, theirs.seconds
    _print_rates(what, against, goal, seconds, ours, theirs, amount, unit)


def print_processor_rates(
    what: str, against: str, goal: str, ours: Cost, theirs: Cost, amount: float, unit: str
) -> None:
    """Print the same, with rates of processor seconds, that is of one core."""
    seconds = ours.computed, theirs.computed
    _print_rates(f"{what}, one core", against, goal, seconds, ours, theirs, amount, unit)


def _print_rates(
    what: str,
    against: str,
    goal: str,
    seconds: tuple[float, float],
    ours: Cost,
    theirs: Cost,
    amount: float,
    unit: str,
) -> None:
    rates = [amount / each for each in seconds]
    shown = [f"{rate:,.0f} {unit}" if rate >= 100 else f"{rate:.1f} {unit}" for rate in rates]
    peaks = f"{ours.peak_mib:,.0f} / {theirs.peak_mib:,.0f}"
    print_row(what, against, goal, rates[0] / rates[1], *shown, peaks)


def forget_peak() -> None:
    """Let the peak of this process be what it holds now, where the system can."""
    try:
        _PEAK_COUNTER.write_text("5")
    except OSError:
        pass  # then the peak is that of the whole run so far


def peak_mib() -> float:
    """Return the most memory that this process has held since it was forgotten."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
