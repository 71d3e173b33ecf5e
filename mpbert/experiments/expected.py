"""The scores of a report beside those of an earlier one, from its ``report.json``."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpbert.foundation.errors import ConfigError

EXACT, TRAINED = 0.005, 0.02  # tolerances: of rows that nothing was trained for, and of others
_CLOSE = 2.0  # times the tolerance
_NAMED = 3  # scores of a row that are shown
Scores = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class ScoreCheck:
    """An expected score beside the one found; NaN where there is none.

    :param column: name of the table and of the column.
    """

    row: str
    column: str
    expected: float
    tolerance: float
    found: float

    @property
    def distance(self) -> float:
        """How far they are apart: 0 where both are NaN, infinite where one is."""
        if math.isnan(self.found) or math.isnan(self.expected):
            return 0.0 if math.isnan(self.found) and math.isnan(self.expected) else math.inf
        return abs(self.found - self.expected)

    @property
    def verdict(self) -> str:
        """``OK`` within the tolerance, ``CLOSE`` within twice the tolerance, else ``DIFFERENT``."""
        distance = self.distance - 1e-12
        if distance <= self.tolerance:
            return "OK"
        return "CLOSE" if distance <= _CLOSE * self.tolerance else "DIFFERENT"


@dataclass(frozen=True)
class ReportComparison:
    """All scores of two reports.

    :param checks: of the rows of both, by row.
    :param missing: rows that the earlier report has alone.
    :param new: rows that it lacks.
    """

    checks: Sequence[ScoreCheck]
    missing: Sequence[str]
    new: Sequence[str]

    @property
    def num_different(self) -> int:
        """Number of scores that differ, a row that is missing among them."""
        return len(self.missing) + sum(check.verdict == "DIFFERENT" for check in self.checks)

    def lines(self) -> list[str]:
        """Return a line for each row, and below it one for each of the scores that differ most."""
        found = [f"{'missing':<10}{row:<42}is in the earlier report alone" for row in self.missing]
        found += [f"{'new':<10}{row:<42}is not in the earlier report" for row in self.new]
        for row in dict.fromkeys(check.row for check in self.checks):
            own = sorted((c for c in self.checks if c.row == row), key=lambda c: -c.distance)
            verdict = own[0].verdict
            found.append(f"{verdict:<10}{row:<42}{len(own)} scores, ± {own[0].tolerance:.4f}")
            found += [
                f"{check.verdict:>20}  {check.column:<30}found {_shown(check.found)}, expected "
                f"{_shown(check.expected)}"
                for check in own[:_NAMED]
                if check.verdict != "OK"
            ]
        return found


def compare_reports(
    found: Mapping[str, Any], expected: Mapping[str, Any], source: str
) -> ReportComparison:
    """Set all columns of all tables beside those of an earlier report.

    :param found: and ``expected``, of :func:`mpbert.evaluation.render.as_dict`.
    :param source: what the messages call the earlier report.
    :raises ConfigError: it is of another corpus, split, task or pool, counts other queries, or has
        none of the rows.
    """
    later = {key: found[key] for key in ("task", "pool", "queries") if key not in expected}
    for key in ("corpus", "split", "task", "pool", "queries"):  # older reports have the first two
        if found[key] != {**later, **expected}.get(key):
            raise ConfigError(
                f"{source}: found a report of {key} {expected.get(key)}; expected {found[key]}"
            )
    here, there = _scores(found), _scores(expected)
    both = [row for row in here if row in there]
    if not both:
        raise ConfigError(
            f"{source}: has none of the rows of this report, such as {next(iter(here))}; expected "
            f"a report of the same rows"
        )
    trained = {row["name"] for row in found["rows"] if row["is_trained"]}
    checks = [
        ScoreCheck(
            row,
            column,
            there[row].get(column, math.nan),
            TRAINED if row in trained else EXACT,
            here[row].get(column, math.nan),
        )
        for row in both
        for column in dict.fromkeys([*there[row], *here[row]])
    ]
    missing = [row for row in there if row not in here]
    return ReportComparison(checks, missing, [row for row in here if row not in there])


def read_report(path: Path) -> dict[str, Any]:
    """Return what ``report.json`` holds.

    :raises ConfigError: it is unreadable, or no report.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        _scores(report)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(
            f"{path}: unreadable ({type(error).__name__}); expected report.json of mpbert report"
        ) from error
    return report


def _scores(report: Mapping[str, Any]) -> Scores:
    """Return name of the row to table and column to mean, NaN where there is none."""
    found: dict[str, dict[str, float]] = {}
    for table, content in report["tables"].items():
        for row, columns in content["scores"].items():
            means = found.setdefault(row, {})
            for column, cell in columns.items():
                mean = cell["mean"]
                means[f"{table} {column}"] = math.nan if mean is None else float(mean)
    return found


def _shown(value: float) -> str:
    return "nothing" if math.isnan(value) else f"{value:.4f}"
