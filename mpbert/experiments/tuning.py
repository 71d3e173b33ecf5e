"""Tuning: which settings are tried, under one budget for all rows, and what came of it."""

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mpbert.evaluation.tuned import Budget, Settings, SettingValue, TunedRow
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.option_files import read_yaml


@dataclass(frozen=True)
class Tuned:
    """The outcome of tuning on one corpus."""

    budget: Budget | None = None
    rows: Mapping[str, TunedRow] = field(default_factory=dict)

    def settings(self, name: str) -> Settings:
        """Return the settings chosen for a row; none where it was not tuned."""
        return self.rows[name].settings if name in self.rows else {}


@dataclass(frozen=True)
class Trial:
    """Settings that were tried; ``score`` is None where they failed."""

    settings: Settings
    score: float | None
    cpu_seconds: float


def choose_trials(
    space: Mapping[str, tuple[SettingValue, ...]],
    identity: Callable[[Settings], Hashable],
    rng: np.random.Generator,
    start: Settings,
) -> list[dict[str, SettingValue]]:
    """Return what there is to try: a start, nothing new, then all other points in random order.

    :param identity: maps settings that go over the row's own to what they amount to; no two trials
        have the same.
    :param start: settings that go over the row's own; empty: these are tried first.
    """
    points = [
        dict(zip(space, values, strict=True)) for values in itertools.product(*space.values())
    ]
    first = {} if identity(start) == identity({}) else dict(start)
    chosen, seen = [], set()
    for settings in (first, {}, *(points[place] for place in rng.permutation(len(points)))):
        if (found := identity(settings)) not in seen:
            seen.add(found)
            chosen.append(settings)
    return chosen


def still_fits(spent: Sequence[float], cpu_hours: float, running: int = 0) -> bool:
    """Whether another trial of the mean cost fits into what is left; the first one always does.

    :param spent: CPU seconds of the trials that ended.
    :param cpu_hours: of all trials; what development took before is taken off.
    :param running: trials that have not ended; each is taken to cost what the dearest one did.
    """
    if not spent:
        return not running
    mean = sum(spent) / len(spent)
    return sum(spent) + running * max(spent) + mean <= 3600 * cpu_hours


def best_of(trials: Sequence[Trial], space_size: int) -> TunedRow | None:
    """Return the outcome of the trials of a row; of equal ones the first. None: all failed.

    :param trials: in order.
    :param space_size: number of settings there are to try.
    """
    scored = [trial for trial in trials if trial.score is not None]
    if not scored:
        return None
    best = max(scored, key=lambda trial: trial.score)
    hours = round(sum(trial.cpu_seconds for trial in trials) / 3600, 4)
    own = next((trial.score for trial in trials if not trial.settings), None)
    return TunedRow(
        best.settings, best.score, own, len(trials), space_size, hours, len(trials) - len(scored)
    )


def tuned_file(path: Path | None, corpus: str) -> Path | None:
    """Return the file of what was chosen on a corpus, if there is any.

    :param path: the file, or a folder of ``CORPUS.yaml``.
    """
    if path is None or not path.is_dir():
        return path
    file = path / f"{corpus}.yaml"
    return file if file.exists() else None


def read_tuned(path: Path | None) -> Tuned:
    """Read what tuning chose; nothing where there is no file.

    :raises ConfigError: the file is unreadable, or is no outcome of tuning.
    """
    if path is None:
        return Tuned()
    return parse_tuned(read_yaml(path, "what mpbert tune writes"), str(path))


def parse_tuned(content: object, source: str) -> Tuned:
    """Check the outcome of tuning, as :func:`as_plain` made it.

    :param content: the YAML document.
    :param source: what the messages call the file.
    :raises ConfigError: it is no such outcome.
    """
    try:
        budget = Budget(**content["budget"])
        dict(budget.queries), dict(budget.of)
        rows = {str(name): TunedRow(**row) for name, row in content["rows"].items()}
        for row in rows.values():
            dict(row.settings)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{source}: found no budget and rows as mpbert tune writes them "
            f"({type(error).__name__}: {error}); name a file of mpbert tune, or write it again"
        ) from error
    return Tuned(budget, rows)


def as_plain(tuned: Tuned) -> dict[str, object]:
    """Return the outcome of tuning in YAML's own types, rows sorted by name."""
    rows = {
        name: {**vars(row), "settings": dict(sorted(row.settings.items()))}
        for name, row in sorted(tuned.rows.items())
    }
    for row in rows.values():
        if row["most"] is None:
            del row["most"]
    return {"budget": vars(tuned.budget), "rows": rows}
