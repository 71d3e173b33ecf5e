"""Conditions: one row of the report each, with the scores we expect of it.

A condition is ``eval/conditions/NAME.yaml``::

    title: BM25, title + abstract         # at most 40 characters
    run: runs/trec/{corpus}/bm25-abstract # directory that holds SPLIT.run
    note: k1 1.2, b 0.75                  # optional
    order: 20                             # optional: place in the table
    expected:                             # optional, of the test split
      rfc: {"Recall@10 P>=1": [0.283, 0.010]}  # value and tolerance
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from mpbert.errors import ConfigError

MAX_TITLE = 40  # so that a table of six numbers fits a terminal of 100 columns
_KEYS = {"title": str, "run": str, "note": str, "order": int, "expected": dict}
_CLOSE = 2.0  # times the tolerance


@dataclass(frozen=True)
class Condition:
    """A row of the report.

    :param name: name of its file.
    :param title: what the tables call it.
    :param run: pattern of the run directory; ``{corpus}`` stands for the name of the corpus.
    :param expected: corpus to column name to (value, tolerance).
    """

    name: str
    title: str
    run: str
    note: str = ""
    order: int = 1000
    expected: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """An expected score beside the one found; ``found`` is NaN where there is none."""

    condition: str
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


def parse_condition(name: str, content: object, source: str) -> Condition:
    """Check what a condition's file says.

    :param content: the YAML document.
    :param source: what the messages call the file.
    :raises ConfigError: a key is missing, unknown or of the wrong kind.
    """
    if not isinstance(content, dict):
        raise ConfigError(f"{source}: found {type(content).__name__}; expected keys title and run")
    for key, value in content.items():
        if key not in _KEYS:
            known = ", ".join(sorted(_KEYS))
            raise ConfigError(f"{source}: unknown key {key!r}; expected one of {known}")
        if not isinstance(value, _KEYS[key]):
            raise ConfigError(
                f"{source}: {key} is {value!r}; expected {_KEYS[key].__name__}, as in the other "
                f"conditions"
            )
    for key in ("title", "run"):
        if not content.get(key, "").strip():
            raise ConfigError(f"{source}: found no {key}; expected a line '{key}: ...'")
    if len(content["title"]) > MAX_TITLE or "\n" in content["title"]:
        raise ConfigError(
            f"{source}: the title has {len(content['title'])} characters; expected one line of at "
            f"most {MAX_TITLE}, put the rest into the note"
        )
    expected = {
        str(corpus): _parse_scores(scores, f"{source}: expected, {corpus}")
        for corpus, scores in content.get("expected", {}).items()
    }
    return Condition(**{**content, "name": name, "expected": expected})


def _parse_scores(scores: object, source: str) -> dict[str, tuple[float, float]]:
    if not isinstance(scores, dict):
        raise ConfigError(f"{source}: found {scores!r}; expected 'Recall@10 P>=1: [0.283, 0.010]'")
    for column, pair in scores.items():
        numbers = isinstance(pair, list) and len(pair) == 2
        numbers = numbers and all(
            isinstance(x, int | float) and math.isfinite(x) and x >= 0 for x in pair
        )
        if not numbers:
            raise ConfigError(
                f"{source}, {column}: found {pair!r}; expected [value, tolerance], value as a "
                f"fraction from 0 to 1"
            )
    return {
        column: (float(value), float(tolerance)) for column, (value, tolerance) in scores.items()
    }


def compare(
    conditions: list[Condition], corpus: str, found: Mapping[str, Mapping[str, float]]
) -> list[Comparison]:
    """Set the expected scores of a corpus beside those found; a row that was not run has none.

    :param found: name of the condition to column name to score, for the rows that were run.
    :raises ConfigError: a condition expects a column that no table has.
    """
    columns = {column for scores in found.values() for column in scores}
    comparisons = []
    for condition in conditions:
        for column, (value, tolerance) in condition.expected.get(corpus, {}).items():
            if columns and column not in columns:
                raise ConfigError(
                    f"condition {condition.name}: expects a score of {column!r}; expected one of "
                    f"{', '.join(sorted(columns))}"
                )
            score = found.get(condition.name, {}).get(column, math.nan)
            comparisons.append(Comparison(condition.name, column, value, tolerance, score))
    return comparisons
