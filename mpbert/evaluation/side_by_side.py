"""Compared runs as text, Markdown, CSV and JSON; percent to read, numbers from 0 to 1 to compute.

Text and Markdown have a table for each subset of the queries, without those that have no query.
"""

import csv
import dataclasses
import io
import json
import math
from collections.abc import Callable, Sequence

from mpbert.evaluation.compared import ComparedScore

_LEGEND = (
    "Percent, with 95 % intervals; p is that of the difference to the best other run, by a "
    "randomization test, corrected by Holm.\nP is the number of papers that a query cites; a "
    "query that is missing in the run counts 0."
)


def as_text(scores: Sequence[ComparedScore]) -> str:
    """Return tables whose columns are aligned by spaces."""
    blocks = []
    for title, table in _tables(scores):
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        rows = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        blocks.append("\n".join([title, *rows]))
    return "\n\n".join([*blocks, _LEGEND])


def as_markdown(scores: Sequence[ComparedScore]) -> str:
    """Return tables of Markdown."""
    blocks = []
    for title, (head, *rows) in _tables(scores):
        rule = ["---"] * len(head)
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in (head, rule, *rows)]
        lines = [f"| {' | '.join(row)} |" for row in escaped]
        blocks.append("\n".join([f"**{title}**", "", *lines]))
    return "\n\n".join([*blocks, _LEGEND])


def as_csv(scores: Sequence[ComparedScore]) -> str:
    """Return a line for each score, with a head; what cannot be had is empty."""
    names = [field.name for field in dataclasses.fields(ComparedScore)]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if v is None else v for k, v in _record(s).items()} for s in scores)
    return out.getvalue().rstrip("\n")


def as_json(scores: Sequence[ComparedScore]) -> str:
    """Return a list of one object for each score; what cannot be had is null."""
    return json.dumps([_record(score) for score in scores], indent=1, ensure_ascii=False)


FORMATS: dict[str, Callable[[Sequence[ComparedScore]], str]] = {
    "csv": as_csv,
    "json": as_json,
    "markdown": as_markdown,
    "text": as_text,
}


def _record(score: ComparedScore) -> dict[str, str | float | None]:
    values = dataclasses.asdict(score)
    is_nan = {name: isinstance(v, float) and math.isnan(v) for name, v in values.items()}
    return {name: None if is_nan[name] else value for name, value in values.items()}


def _tables(scores: Sequence[ComparedScore]) -> list[tuple[str, list[list[str]]]]:
    """Return title and rows of the table of each subset that has queries, the head first."""
    measures = list(dict.fromkeys(score.measure for score in scores))
    runs = list(dict.fromkeys(score.run for score in scores))
    found = {(score.subset, score.run, score.measure): score for score in scores}
    sizes = {score.subset: score.queries for score in scores if score.queries}
    tables = []
    for subset, queries in sizes.items():
        rows = [["run", "missing", *measures]]
        for run in runs:
            own = [found[subset, run, measure] for measure in measures]
            rows.append([run, f"{own[0].missing:,}", *map(_cell, own)])
        tables.append((f"{subset}: {queries:,} {'query' if queries == 1 else 'queries'}", rows))
    return tables


def _cell(score: ComparedScore) -> str:
    text = f"{100 * score.mean:.2f}"
    if not math.isnan(score.low):
        text += f" [{100 * score.low:.2f}, {100 * score.high:.2f}]"
    if not math.isnan(score.p_randomization):
        p = score.p_randomization
        text += " p<0.001" if p < 0.001 else f" p={p:.3f}"
    return text
