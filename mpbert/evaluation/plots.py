"""Plots of a report and of its trainings; the same numbers give the same bytes."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mpbert.evaluation.curves import RANKS, Curve
from mpbert.evaluation.reliability import Reliability
from mpbert.evaluation.report import Report
from mpbert.evaluation.self_citation import SelfCitation
from mpbert.evaluation.tables import Table

_WIDTH = 9.0  # inches
# Okabe & Ito: told apart by colour-blind readers; the line style changes with each round
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5d6778", "#1c2330")
LINES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
STYLE = {
    "svg.hashsalt": "mpbert",  # otherwise ids of SVG elements are random
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e7ee",
    "legend.frameon": False,
}
_NO_DATES = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
_FEW = 15  # points of a line of losses that are marked


def plot_report(report: Report, suffix: str) -> dict[str, tuple[str, bytes]]:
    """Return the title and the picture of each plot by its name.

    :param suffix: ``svg`` or ``png``.
    """
    titles = [row.full_title for row in report.rows]
    with rc_context(STYLE):
        figures = {curve.name: (curve.title, _lines(curve, titles)) for curve in report.curves}
        main = report.tables[0]
        figures["intervals"] = ("95 % intervals, P ≥ 1", _dots(main, titles))
        known = [row for row in report.rows if row.self_citation]
        if known:
            figures["self_citation"] = (
                "Self-citation: ranks of papers that share an author",
                _self_citation([r.full_title for r in known], [r.self_citation for r in known]),
            )
        if sure := {row.full_title: row.reliability for row in report.rows if row.reliability}:
            figures["reliability"] = ("Reliability, and risk at coverage", _reliability(sure))
        return {name: (title, save(figure, suffix)) for name, (title, figure) in figures.items()}


def plot_reliability(rows: Mapping[str, Reliability], suffix: str) -> bytes:
    """Return the picture of what came true of probabilities, and what the surest answers risk."""
    with rc_context(STYLE):
        return save(_reliability(rows), suffix)


def plot_cost(
    titles: Sequence[str], seconds: Sequence[float], scores: Sequence[float], suffix: str
) -> bytes:
    """Return the picture of what each row finds against the work of the processor that it took.

    :param seconds: of CPU time, with those of the rows that it takes something of.
    :param scores: MAP@10 of all queries, as fractions.
    """
    with rc_context(STYLE):
        figure, [[axes]] = figure_of(_WIDTH, _height(titles))
        for r in np.argsort(-np.array(scores), kind="stable"):  # the legend is in this order
            axes.plot(
                seconds[r],
                100 * scores[r],
                MARKERS[r // len(COLORS) % len(MARKERS)],
                color=COLORS[r % len(COLORS)],
                linestyle="none",
                label=titles[r],
            )
        axes.set_xscale("log")
        ticks = np.outer(10.0 ** np.arange(-2, 7), (1, 3)).ravel()
        low, high = 0.7 * min(seconds), 1.4 * max(seconds)
        ticks = ticks[(ticks >= low) & (ticks <= high)]
        axes.set_xticks(ticks, [f"{tick:,g}" if tick < 1 else f"{tick:,.0f}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlim(low, high)
        axes.set_xlabel("CPU seconds to fit, embed and rank")
        axes.set_ylabel("MAP@10, P ≥ 1, %")
        legend_beside(axes)
        return save(figure, suffix)


def _height(titles: Sequence[str]) -> float:
    """Return the inches of a plot whose legend has a line for each row."""
    return max(3.6, 0.22 * len(titles) + 1.2)


def _self_citation(titles: Sequence[str], analyses: Sequence[SelfCitation]) -> Figure:
    """Draw mean and best rank by cutoff, after Fig. 4 of Bhagavatula et al. (NAACL 2018)."""
    figure, [panels] = figure_of(_WIDTH, _height(titles), 1, 2, sharex=True, sharey=True)
    ranks = [[(a.mean_rank, a.best_rank)[panel] for a in analyses] for panel in range(2)]
    for axes, lines, label in zip(panels, ranks, ("mean rank", "best rank"), strict=True):
        for r, (title, line) in enumerate(zip(titles, lines, strict=True)):
            axes.plot(
                analyses[r].cutoffs,
                line,
                color=COLORS[r % len(COLORS)],
                linestyle=LINES[r // len(COLORS) % len(LINES)],
                linewidth=1.6,
                label=title,
            )
        axes.set_xlabel("papers ranked")
        axes.set_ylabel(f"{label} of a paper sharing an author")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    legend_beside(panels[1])
    return figure


def _reliability(rows: Mapping[str, Reliability]) -> Figure:
    figure, [[left, right]] = figure_of(_WIDTH, _height(list(rows)), 1, 2)
    left.plot([0, 1], [0, 1], color=COLORS[6], linestyle="--")
    for r, (title, found) in enumerate(rows.items()):
        color = COLORS[r % len(COLORS)]
        left.plot(found.probability, found.cited, color=color, linewidth=0.8)
        left.scatter(found.probability, found.cited, 10 + 300 * found.share, color=color)
        line = LINES[r // len(COLORS) % len(LINES)]
        right.plot(np.arange(1, 101), 100 * found.risk, color=color, linestyle=line, label=title)
    left.set(xlabel="probability of the first paper", ylabel="part that is cited")
    right.set(xlabel="surest part of the answers, %", ylabel="first paper wrong, %", ylim=(0, 100))
    if len(rows) > 1:
        legend_beside(right)
    return figure


def _lines(curve: Curve, titles: Sequence[str]) -> Figure:
    figure, [[axes]] = figure_of(_WIDTH, _height(titles))
    ranks = curve.name == "recall"
    x = np.array(curve.x) if ranks else np.arange(len(curve.x))
    for r in np.argsort(-curve.values[:, -1], kind="stable"):  # the legend is in this order
        axes.plot(
            x,
            100 * curve.values[r],
            color=COLORS[r % len(COLORS)],
            linestyle=LINES[r // len(COLORS) % len(LINES)],
            marker=None if ranks else MARKERS[r % len(MARKERS)],
            markersize=4,
            linewidth=1.6,
            label=titles[r],
        )
    if ranks:
        axes.set_xscale("log")
        ticks = [t for t in RANKS if t <= x[-1]]
        axes.set_xticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
    else:
        labels = [f"{name}\n{size:,}" for name, size in zip(curve.x, curve.sizes, strict=True)]
        axes.set_xticks(x, labels)
    axes.set_xlabel(curve.x_label + ("" if ranks else " (below: queries)"))
    axes.set_ylabel(f"{curve.y_label}, %")
    axes.set_ylim(bottom=0)
    legend_beside(axes)
    return figure


def _dots(table: Table, titles: Sequence[str]) -> Figure:
    columns = [j for j, c in enumerate(table.columns) if c.subset.name == "P>=1"]
    height = 0.28 * len(titles) + 1.0
    figure, [panels] = figure_of(_WIDTH, height, 1, len(columns), sharey=True)
    places = np.arange(len(titles))
    for axes, j in zip(panels, columns, strict=True):
        axes.hlines(places, 100 * table.low[:, j], 100 * table.high[:, j], COLORS[0], linewidth=2)
        axes.plot(100 * table.means[:, j], places, "o", color=COLORS[0], markersize=5)
        axes.set_yticks(places, titles)
        axes.set_ylim(len(titles) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"{table.columns[j].measure}, %")
    return figure


def figure_of(
    width: float, height: float, rows: int = 1, columns: int = 1, **shared: Any
) -> tuple[Figure, np.ndarray]:
    """Return a figure and its plots, (rows, columns) of Axes.

    :param width: of the figure in inches, as its height.
    :param shared: ``sharex`` and ``sharey``, as of matplotlib.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **shared)


def legend_beside(axes: Axes) -> None:
    """Put the legend to the right of a plot."""
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))


def save(figure: Figure, suffix: str) -> bytes:
    """Return a picture without date or version, ``svg`` or ``png``."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix, dpi=150, metadata=_NO_DATES[suffix])
    return buffer.getvalue()


@dataclass(frozen=True)
class TrainingCurve:
    """Losses of one training.

    :param title: which one.
    :param lines: by what they are of: (X,) updates done, rising, and (X,) losses.
    """

    title: str
    lines: dict[str, tuple[np.ndarray, np.ndarray]]


def plot_training(curves: Sequence[TrainingCurve], suffix: str) -> bytes:
    """Return the picture of the losses of trainings, a panel each; their scales differ.

    :param curves: at least one.
    """
    with rc_context(STYLE):
        columns = min(3, len(curves))
        rows = -(-len(curves) // columns)
        figure, grid = figure_of(1.0 + 3.2 * columns, 0.4 + 2.5 * rows, rows, columns)
        panels = grid.ravel()
        for axes, curve in zip(panels, curves, strict=False):
            _draw_losses(curve, axes)
        for axes in panels[len(curves) :]:
            axes.remove()
        figure.supxlabel("updates", fontsize=9)
        figure.supylabel("loss", fontsize=9)
        return save(figure, suffix)


def _draw_losses(curve: TrainingCurve, axes: Axes) -> None:
    for place, (name, (updates, losses)) in enumerate(curve.lines.items()):
        axes.plot(
            updates,
            losses,
            color=COLORS[place],
            linestyle=LINES[place],
            marker=MARKERS[place] if len(updates) < _FEW else None,
            markersize=3.5,
            linewidth=1.6,
            label=name,
        )
    axes.set_title(curve.title, fontsize=9)
    axes.set_xlim(left=0)
    axes.legend()
