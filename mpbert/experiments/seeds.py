"""Which rows can be trained with several seeds, and what kind of row each is."""

from collections.abc import Mapping

from mpbert.evaluation.report import CHANCE, ELSEWHERE, FUSION, LEXICAL_ROW, RERANKER, TRAINED
from mpbert.experiments.rows import INDEX, MODEL, RUN, Row
from mpbert.methods.embedding import EMBEDDERS
from mpbert.methods.lexical.method import LEXICAL
from mpbert.methods.reranking import RERANKERS

# methods of families that no registry tells
_BY_NAME = {"chance": CHANCE, "fusion": FUSION, "lambdamart": FUSION, INDEX: FUSION}
_BY_NAME |= {RUN: ELSEWHERE}


def takes_seeds(rows: Mapping[str, Row], name: str) -> bool:
    """Whether a row is trained, or takes vectors, runs or lists of one that is.

    The weights of a fusion and the trees of LambdaMART take no seed, but their inputs do: seed k
    of them takes theirs. A ready-made model that is taken as it is takes none.

    :param rows: by name, with all that the row needs.
    """
    row = rows[name]
    makes_vectors = row.method == MODEL or row.method in EMBEDDERS.names()
    settings = row.settings
    learns_nothing = settings.get("epochs") == 0 and not settings.get("head_epochs")
    as_it_is = row.pretrained_on is not None and learns_nothing
    learns = bool(row.training) or (makes_vectors and not row.vectors and not as_it_is)
    return learns or any(takes_seeds(rows, needed) for needed in row.needs)


def is_trained(rows: Mapping[str, Row], name: str) -> bool:
    """Whether a row depends on the seed of a training: random vectors alone learn nothing."""
    return takes_seeds(rows, name) and family_of(rows[name]) != CHANCE


def family_of(row: Row) -> str:
    """Return the kind of a row, one of :data:`mpbert.evaluation.report.FAMILIES`."""
    if row.method in _BY_NAME:
        return _BY_NAME[row.method]
    if row.method in LEXICAL.names():
        return LEXICAL_ROW
    return RERANKER if row.method in RERANKERS.names() else TRAINED
