"""How all plots look, and how they are saved; the same numbers give the same bytes."""

import io
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
