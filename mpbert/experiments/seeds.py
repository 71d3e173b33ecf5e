"""Which rows are trained, and which can be trained with several seeds."""

from mpbert.experiments.experiment import Experiment
from mpbert.experiments.identity import learns_from
from mpbert.experiments.rows import MODEL
from mpbert.methods.embedding import EMBEDDERS

_UNTRAINED = ("chance",)  # embedders whose vectors are drawn


def takes_seeds(experiment: Experiment, name: str) -> bool:
    """Whether a row is trained, or ranks with the vectors of one that is.

    Rerankers are trained where they learn from lists; the weights of a fusion take no seed.
    """
    row = experiment.rows[name]
    if row.vectors:
        return takes_seeds(experiment, row.vectors)
    return row.method == MODEL or row.method in EMBEDDERS.names() or bool(row.training)


def is_trained(experiment: Experiment, name: str) -> bool:
    """Whether anything was trained for a row, or for one that it takes vectors or runs of."""
    variant = experiment.variant(name)
    row = variant.row
    if any(is_trained(experiment, need) for need in row.needs):
        return True
    if row.vectors or row.method in _UNTRAINED:
        return False
    own = row.method == MODEL or row.method in EMBEDDERS.names()
    return own or bool(learns_from(row, variant.settings))
