"""Two plots of probabilities: whether they come true, and what the surest answers risk."""

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from mpbert.evaluation.plots import COLORS, STYLE, save

_BINS = 15


def plot_reliability(probabilities: np.ndarray, is_right: np.ndarray) -> bytes:
    """Return a PNG picture: reliability, and risk at coverage.

    :param probabilities: (Q,) of first papers, ``is_right`` (Q,) whether each is cited.
    """
    which = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    bins = np.unique(which)
    order = np.argsort(-probabilities, kind="stable")
    number = np.arange(1, len(order) + 1)
    with rc_context(STYLE):
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot([0, 1], [0, 1], color=COLORS[6], linestyle="--")
        left.scatter(
            *(
                [values[which == one].mean() for one in bins]
                for values in (probabilities, is_right)
            ),
            s=[10 + 400 * (which == one).mean() for one in bins],
            color=COLORS[0],
        )
        left.set(xlabel="probability of the first paper", ylabel="part that is cited")
        right.plot(number / len(order), 1 - np.cumsum(is_right[order]) / number, color=COLORS[1])
        right.set(
            xlabel="part of the answers, surest first", ylabel="first paper wrong", ylim=(0, 1)
        )
        return save(figure, "png")
