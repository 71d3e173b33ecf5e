"""Expected scores of rows beside those found."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mpbert.experiments.rows import Row
from mpbert.foundation.errors import ConfigError

_CLOSE = 2.0  # times the tolerance


@dataclass(frozen=True)
class ScoreCheck:
    """An expected score beside the one found; ``found`` is NaN where there is none."""

    row: str
    column: str
    expected: float
    tolerance: float
    found: float

    @property
    def verdict(self) -> str:
        """``OK`` within the tolerance, ``CLOSE`` within twice the tolerance, else ``DIFFERENT``."""
        distance = abs(self.found - self.expected) - 1e-12  # NaN is not within anything
        if distance <= self.tolerance:
            return "OK"
        return "CLOSE" if distance <= _CLOSE * self.tolerance else "DIFFERENT"


def check_scores(
    rows: Iterable[Row], corpus: str, found: Mapping[str, Mapping[str, float]]
) -> list[ScoreCheck]:
    """Set the expected scores of a corpus beside those found; a row that was not run has none.

    :param found: name of the row to column name to score, for the rows that were run.
    :raises ConfigError: a row expects a column that no table has.
    """
    columns = {column for scores in found.values() for column in scores}
    checks = []
    for row in rows:
        for column, (value, tolerance) in row.expected.get(corpus, {}).items():
            if columns and column not in columns:
                raise ConfigError(
                    f"row {row.name}: expects a score of {column!r}; expected one of "
                    f"{', '.join(sorted(columns))}"
                )
            score = found.get(row.name, {}).get(column, math.nan)
            checks.append(ScoreCheck(row.name, column, value, tolerance, score))
    return checks
