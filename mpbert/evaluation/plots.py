"""Plots of a report; the same numbers give the same bytes."""

import io
from collections.abc import Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from mpbert.evaluation.report import Curve, Report
from mpbert.evaluation.self_citation import SelfCitation
from mpbert.evaluation.tables import Table
from mpbert.evaluation.training_curves import TrainingCurve

# Okabe & Ito: told apart by colour-blind readers; the line style changes with each round
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5d6778", "#1c2330")
_LINES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P")
_STYLE = {
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
_FEW = 15  # points of a line that are marked
_TICKS = (1, 2, 5, 10, 20, 50, 100)


def plot_report(report: Report, suffix: str) -> dict[str, tuple[str, bytes]]:
    """Return the title and the picture of each plot by its name.

    :param suffix: ``svg`` or ``png``.
    """
    titles = [row.title for row in report.rows]
    with rc_context(_STYLE):
        figures = {curve.name: (curve.title, _lines(curve, titles)) for curve in report.curves}
        main = report.tables[0]
        figures["intervals"] = ("95 % intervals, P ≥ 1", _dots(main, titles))
        known = [row for row in report.rows if row.self_citation]
        if known:
            figures["self_citation"] = (
                "Self-citation: ranks of papers that share an author",
                _self_citation([r.title for r in known], [r.self_citation for r in known]),
            )
        return {name: (title, _save(figure, suffix)) for name, (title, figure) in figures.items()}


def plot_cost(
    titles: Sequence[str], seconds: Sequence[float], scores: Sequence[float], suffix: str
) -> bytes:
    """Return the picture of what each row finds against how long it took.

    :param scores: MAP@10 of all queries, as fractions.
    """
    with rc_context(_STYLE):
        figure, axes = _figure(9.0, max(3.6, 0.22 * len(titles) + 1.2))
        for r in np.argsort(-np.array(scores), kind="stable"):  # the legend is in this order
            axes.plot(
                seconds[r],
                100 * scores[r],
                _MARKERS[r // len(_COLORS) % len(_MARKERS)],
                color=_COLORS[r % len(_COLORS)],
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
        axes.set_xlabel("seconds to fit, embed and rank")
        axes.set_ylabel("MAP@10, P ≥ 1, %")
        axes.set_ylim(bottom=0)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        return _save(figure, suffix)


def plot_training(curves: Sequence[TrainingCurve], suffix: str) -> bytes:
    """Return the picture of the losses of trainings, a panel each; their scales differ.

    :param curves: at least one.
    """
    with rc_context(_STYLE):
        columns = min(3, len(curves))
        rows = -(-len(curves) // columns)
        size = (1.0 + 3.2 * columns, 0.4 + 2.5 * rows)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, curve in zip(panels, curves, strict=False):
            for place, (name, (updates, losses)) in enumerate(curve.lines.items()):
                marker = _MARKERS[place] if len(updates) < _FEW else None
                axes.plot(
                    updates,
                    losses,
                    color=_COLORS[place],
                    linestyle=_LINES[place],
                    marker=marker,
                    markersize=3.5,
                    linewidth=1.6,
                    label=name,
                )
            axes.set_title(curve.title, fontsize=9)
            axes.set_xlim(left=0)
            axes.legend()
        for axes in panels[len(curves) :]:
            axes.remove()
        figure.supxlabel("updates", fontsize=9)
        figure.supylabel("loss", fontsize=9)
        return _save(figure, suffix)


def _self_citation(titles: Sequence[str], analyses: Sequence[SelfCitation]) -> Figure:
    """Draw mean and best rank by cutoff, after Fig. 4 of Bhagavatula et al. (NAACL 2018)."""
    figure = Figure(figsize=(9.0, max(3.6, 0.22 * len(titles) + 1.2)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    ranks = [[(a.mean_rank, a.best_rank)[panel] for a in analyses] for panel in range(2)]
    for axes, lines, label in zip(panels, ranks, ("mean rank", "best rank"), strict=True):
        for r, (title, line) in enumerate(zip(titles, lines, strict=True)):
            axes.plot(
                analyses[r].cutoffs,
                line,
                color=_COLORS[r % len(_COLORS)],
                linestyle=_LINES[r // len(_COLORS) % len(_LINES)],
                linewidth=1.6,
                label=title,
            )
        axes.set_xlabel("papers ranked")
        axes.set_ylabel(f"{label} of a paper sharing an author")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    panels[1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _lines(curve: Curve, titles: Sequence[str]) -> Figure:
    figure, axes = _figure(9.0, max(3.6, 0.22 * len(titles) + 1.2))
    ranks = curve.name == "recall"
    x = np.array(curve.x) if ranks else np.arange(len(curve.x))
    for r in np.argsort(-curve.values[:, -1], kind="stable"):  # the legend is in this order
        axes.plot(
            x,
            100 * curve.values[r],
            color=_COLORS[r % len(_COLORS)],
            linestyle=_LINES[r // len(_COLORS) % len(_LINES)],
            marker=None if ranks else _MARKERS[r % len(_MARKERS)],
            markersize=4,
            linewidth=1.6,
            label=titles[r],
        )
    if ranks:
        axes.set_xscale("log")
        ticks = [t for t in _TICKS if t <= x[-1]]
        axes.set_xticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
    else:
        labels = [f"{name}\n{size:,}" for name, size in zip(curve.x, curve.sizes, strict=True)]
        axes.set_xticks(x, labels)
    axes.set_xlabel(curve.x_label + ("" if ranks else " (below: queries)"))
    axes.set_ylabel(f"{curve.y_label}, %")
    axes.set_ylim(bottom=0)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _dots(table: Table, titles: Sequence[str]) -> Figure:
    columns = [j for j, c in enumerate(table.columns) if c.subset.name == "P>=1"]
    figure = Figure(figsize=(9.0, 0.28 * len(titles) + 1.0), layout="constrained")
    FigureCanvasAgg(figure)
    places = np.arange(len(titles))
    for axes, j in zip(figure.subplots(1, len(columns), sharey=True), columns, strict=True):
        axes.hlines(places, 100 * table.low[:, j], 100 * table.high[:, j], _COLORS[0], linewidth=2)
        axes.plot(100 * table.means[:, j], places, "o", color=_COLORS[0], markersize=5)
        axes.set_yticks(places, titles)
        axes.set_ylim(len(titles) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"{table.columns[j].measure}, %")
    return figure


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots()


def _save(figure: Figure, suffix: str) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix, dpi=150, metadata=_NO_DATES[suffix])
    return buffer.getvalue()
