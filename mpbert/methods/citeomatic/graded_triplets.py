"""The triplet loss of Citeomatic: Bhagavatula et al. (NAACL 2018), Eq. 2 and App. B.

Symbols: s(q, d) score of a paper for a query; d+ cited, d- not; n_d in-citations of a paper in the
training split; γ multiplier of margins; α margin by the kind of d-: .3 any paper, .2 a near one, .1
one cited by a cited paper, see :mod:`mpbert.methods.citeomatic.triplets`.

The paper and its code (allenai/citeomatic, ``layers.py``) disagree on the boost:

    paper   max(γ·α(d-) + s(q, d-) + B(d-) - s(q, d+) - B(d+), 0)
    code    max(γ·α(d-) + s(q, d-) - B(d-) - s(q, d+) + B(d+), 0)

By the paper a cited paper that many cite may stay nearer to the others; by the code it must stay
farther ahead of them.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.methods.citeomatic.triplets import CITED_BY_CITED, KINDS, NEIGHBOUR, RANDOM

BOOSTS = {"paper": 1.0, "code": -1.0, "none": 0.0}  # sign of the boost
_MARGINS = {RANDOM: 0.3, NEIGHBOUR: 0.2, CITED_BY_CITED: 0.1}


def citation_boost(in_citations: Tensor) -> Tensor:
    """Return B(d) = σ(n_d / 100) / 50: App. B.

    :param in_citations: of any shape.
    """
    return torch.sigmoid(in_citations / 100) / 50


def graded_triplet_loss(
    positive_scores: Tensor,
    negative_scores: Tensor,
    kinds: Tensor,
    positive_citations: Tensor,
    negative_citations: Tensor,
    margin: float,
    boost: str,
) -> Tensor:
    """Return the loss of each triplet, see the module; all arguments but the last two are (B,).

    :param kinds: of the negatives.
    :param margin: γ.
    :param boost: ``paper``, ``code`` or ``none``.
    """
    alphas = torch.tensor([_MARGINS[kind] for kind in KINDS], device=kinds.device)
    gain = citation_boost(negative_citations) - citation_boost(positive_citations)
    gap = negative_scores - positive_scores + BOOSTS[boost] * gain
    return F.relu(margin * alphas[kinds] + gap)
