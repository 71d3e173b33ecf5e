"""Losses of the trainings behind a report, as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes

from mpbert.evaluation.plot_style import COLORS, LINES, MARKERS, STYLE, figure_of, save

_FEW = 15  # points of a line that are marked


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
            _draw(curve, axes)
        for axes in panels[len(curves) :]:
            axes.remove()
        figure.supxlabel("updates", fontsize=9)
        figure.supylabel("loss", fontsize=9)
        return save(figure, suffix)


def _draw(curve: TrainingCurve, axes: Axes) -> None:
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
