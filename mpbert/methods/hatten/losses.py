"""What HAtten minimises over a batch of queries and papers.

Symbols: B queries, U distinct papers; levels: see :mod:`mpbert.methods.hatten.mining`.
"""

from torch import Tensor

from mpbert.methods.hatten.mining import ALIKE, CITED, OTHERS
from mpbert.model.objectives import multi_positive_contrastive


def triplet_loss(similarities: Tensor, levels: Tensor, margin: float, graded: bool) -> Tensor:
    """Return the sum over all triplets of a query, a relevant paper and a less relevant one, Eq. 3.

        L = Σ max(s(q, d-) - s(q, d+) + m, 0)

    Graded, as the code: m = margin · (level of d- minus that of d+), for d+ cited or alike and any
    d- of a higher level. Else, as the paper: m = margin, where d- of an alike d+ are only papers
    that were not prefetched for the query.

    :param similarities: (B, U) cosines of queries and papers.
    :param levels: (B, U).
    """
    query, positive = ((levels == CITED) | (levels == ALIKE)).nonzero(as_tuple=True)
    closer = levels[query, positive][:, None]  # (T, 1)
    others = levels[query]  # (T, U)
    is_triplet = others > closer
    margins: Tensor | float = margin * (others - closer)
    if not graded:
        is_triplet = is_triplet & ((closer == CITED) | (others == OTHERS))
        margins = margin
    losses = similarities[query] - similarities[query, positive][:, None] + margins
    return (losses.clamp(min=0) * is_triplet).sum()


def softmax_loss(similarities: Tensor, levels: Tensor, temperature: float) -> Tensor:
    """Return the sum over queries of the surprise at the cited paper; ours, as our model has it.

        L = Σ_q -log( exp(s(q, d+) / T) / Σ_d exp(s(q, d) / T) )

    d: the cited paper and all that are neither known to the query nor alike.

    :param similarities: (B, U) cosines of queries and papers.
    :param levels: (B, U), one cited paper a query.
    """
    scores = similarities / temperature
    return multi_positive_contrastive(scores, levels == CITED, levels <= ALIKE).sum()
