"""Which rows can be trained with several seeds."""

from mpbert.experiments.experiment import Experiment
from mpbert.experiments.rows import MODEL
from mpbert.methods.embedding import EMBEDDERS


def takes_seeds(experiment: Experiment, name: str) -> bool:
    """Whether a row is trained, or ranks with the vectors of one that is.

    Rerankers are trained where they learn from lists; the weights of a fusion take no seed.
    """
    row = experiment.rows[name]
    if row.vectors:
        return takes_seeds(experiment, row.vectors)
    return row.method == MODEL or row.method in EMBEDDERS.names() or bool(row.training)
