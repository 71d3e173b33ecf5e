"""Linear maps of finished vectors, which citations teach.

    q(c) = unit(q(c) A + 0.3 m B)                 of a context c, whose manuscript is m
    q(m) = unit(m E)                              of a whole manuscript
    v(p) = unit(a(p) C + unit(Σ_c q(c)) D)        of a paper

On the right stand unit vectors of texts that were read alone: a(p) and m of title and abstract,
q(c) of a context. The sum runs over the training contexts that cite p. A to E start as the
identity; B has its factor from the start. In a file they are called ``context``, ``manuscript``,
``paper``, ``citing`` and ``whole``. What is learnt:

    loss = mean_p log(1 + Σ_n e^((cos(q, n) - cos(q, p)) / τ)),  τ = 0.05

over the papers p that a query cites. n are papers that it does not cite and that its manuscript
could have cited: :mod:`mpbert.methods.head_training`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_ABSTRACT = 0.3  # the factor of B where it starts: chosen on validation of the RFCs
_TEMPERATURE = 0.05


class CitationHead(nn.Module):
    """The maps, which take unit vectors.

    :param dim: of all vectors.
    :param reads_manuscript: whether the query of a context has its manuscript's part.
    """

    def __init__(self, dim: int, reads_manuscript: bool) -> None:
        super().__init__()
        self.context, self.whole, self.paper, self.citing = (
            nn.Parameter(torch.eye(dim)) for _ in range(4)
        )
        self.manuscript = nn.Parameter(_ABSTRACT * torch.eye(dim)) if reads_manuscript else None

    def of_contexts(self, contexts: Tensor, manuscripts: Tensor) -> Tensor:
        """Return (B, D) queries of contexts and their manuscripts, (B, D) each."""
        found = contexts @ self.context
        if self.manuscript is not None:
            found = found + manuscripts @ self.manuscript
        return F.normalize(found, dim=1)

    def of_manuscripts(self, manuscripts: Tensor) -> Tensor:
        """Return (B, D) queries of whole manuscripts, (B, D)."""
        return F.normalize(manuscripts @ self.whole, dim=1)

    def of_papers(self, papers: Tensor, sums: Tensor) -> Tensor:
        """Return (N, D) papers from those of titles and abstracts and sums of contexts."""
        return F.normalize(papers @ self.paper + F.normalize(sums, dim=1) @ self.citing, dim=1)


def citation_loss(cosines: Tensor, cited: tuple[Tensor, Tensor], is_known: Tensor) -> Tensor:
    """Return the module's loss, a mean over queries.

    It is the mean of :func:`mpbert.model.objectives.multi_positive_contrastive`, but makes P losses
    where that makes B · N: here N is all papers.

    :param cosines: (B, N) of queries and papers.
    :param cited: (P,) numbers of queries, ascending, and (P,) of papers that they cite.
    :param is_known: (B, N), papers that are no negatives, those which are cited among them.
    """
    (queries, papers), scores = cited, cosines / _TEMPERATURE
    others = scores.masked_fill(is_known, float("-inf")).logsumexp(dim=1)
    losses = F.softplus(others[queries] - scores[queries, papers])
    counts = torch.bincount(queries)
    return (losses / counts[queries]).sum() / len(scores)
