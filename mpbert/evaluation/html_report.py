"""What the HTML report adds to the sheets: addresses, intervals that align, texts for its plots."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mpbert.evaluation.curves import RANKS, Curve
from mpbert.evaluation.report import Report
from mpbert.evaluation.sheets import Sheet, SheetCell, percent

_FIGURE_SPACE = "\u2007"  # as wide as a digit
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_ELSEWHERE = "The tables above have its numbers."


@dataclass(frozen=True)
class Picture:
    """A plot of the report.

    :param alternative: what it shows, in words.
    :param svg: the picture, as base64.
    :param numbers: those that it draws; None where tables of the report have them.
    """

    title: str
    alternative: str
    svg: str
    numbers: Sheet | None


def anchors(titles: Iterable[str]) -> list[str]:
    """Return an id for each title: its letters and digits, and a number where two are the same."""
    found: list[str] = []
    for title in titles:
        name = "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60].strip("-") or "part"
        number = sum(other == name or other.startswith(f"{name}--") for other in found)
        found.append(f"{name}--{number + 1}" if number else name)
    return found


def aligned(sheet: Sheet) -> Sheet:
    """Return a sheet in whose columns the numbers of intervals stand below each other."""
    columns = list(zip(*(cells for _, cells in sheet.rows), strict=True))
    texts = [_padded([cell.text for cell in column]) for column in columns]
    intervals = [_padded([cell.interval for cell in column]) for column in columns]
    rows = []
    for r, (title, cells) in enumerate(sheet.rows):
        changed = [
            replace(cell, text=texts[j][r], interval=intervals[j][r])
            for j, cell in enumerate(cells)
        ]
        rows.append((title, changed))
    return replace(sheet, rows=rows)


def _padded(texts: Sequence[str]) -> list[str]:
    """Return texts whose numbers are as wide as the widest at their place, if these are intervals.

    Texts without an interval stay as they are.
    """
    found = [_NUMBER.findall(text) if "[" in text else [] for text in texts]
    most = max(map(len, found), default=0)
    widths = [max((len(n[i]) for n in found if len(n) > i), default=0) for i in range(most)]

    def pad(text: str) -> str:
        left = iter(widths)
        return _NUMBER.sub(lambda match: match[0].rjust(next(left), _FIGURE_SPACE), text)

    return [pad(text) if numbers else text for text, numbers in zip(texts, found, strict=True)]


def pictures(report: Report, plots: Mapping[str, str]) -> list[Picture]:
    """Return the plots of a report with what stands for them where they are not seen.

    :param plots: SVG by title, as base64.
    """
    curves = {curve.title: curve for curve in report.curves}
    rows = [row.full_title for row in report.rows]
    found = []
    for title, svg in plots.items():
        curve = curves.get(title)
        if curve is None:
            words = f"{title}, of {len(rows)} rows. {_ELSEWHERE}"
            found.append(Picture(title, words, svg, None))
        else:
            found.append(Picture(title, _words(curve, rows), svg, _numbers(curve, rows)))
    return found


def _words(curve: Curve, rows: Sequence[str]) -> str:
    last = curve.values[:, -1]
    known = np.flatnonzero(~np.isnan(last))
    start = f"Lines of {curve.y_label} over {curve.x_label}, one for each of {len(rows)} rows."
    if not len(known):
        return start
    best, worst = known[last[known].argmax()], known[last[known].argmin()]
    return (
        f"{start} At {curve.x[-1]} the highest is {rows[best]} with {percent(last[best])} %, the "
        f"lowest {rows[worst]} with {percent(last[worst])} %. The table below has the numbers."
    )


def _numbers(curve: Curve, rows: Sequence[str]) -> Sheet:
    is_ranks = curve.name == "recall"
    shown = [i for i, x in enumerate(curve.x) if not is_ranks or x in RANKS]
    lines = [
        (title, [SheetCell(percent(curve.values[r, i])) for i in shown])
        for r, title in enumerate(rows)
    ]
    heads = [(str(curve.x[i]), 10) for i in shown]
    groups = [(f"{curve.x_label}; {curve.y_label}, %", len(shown))]
    return Sheet(f"{curve.title}: numbers", groups, heads, lines)
