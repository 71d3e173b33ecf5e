"""Words with a direction and a magnitude, and texts as their sums: Bhagavatula et al.

(NAACL 2018), Sec. 3, Eq. 1, the embedding of NNSelect and NNRank.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.methods.citeomatic.field_bags import BagBatch


class MagnitudeDirection(nn.Module):
    """Sums of words:  f = Σ_t c_t · m_t · w_t / ‖w_t‖, where a text holds the word t c_t times.

    Gradients are sparse: a batch holds few of the words. Rows are taken by ``F.embedding``, since
    the gradient of an index is summed by several threads in any order.

    :param magnitudes: (V,) m_t at the start.
    :param dim: D, of directions w_t, which start anywhere on the sphere.
    """

    def __init__(self, magnitudes: np.ndarray, dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self.directions = nn.Parameter(torch.randn(len(magnitudes), dim, generator=generator))
        self.magnitudes = nn.Parameter(torch.from_numpy(magnitudes.astype(np.float32))[:, None])

    def forward(self, bags: BagBatch) -> Tensor:
        """Return (M, D) sums, one per bag; zeros for an empty bag."""
        device = self.directions.device
        words, places, counts, offsets = (
            torch.from_numpy(array).to(device)
            for array in (bags.words, bags.places, bags.counts, bags.offsets)
        )
        directions = F.normalize(F.embedding(words, self.directions, sparse=True), dim=1)  # (U, D)
        magnitudes = F.embedding(words, self.magnitudes, sparse=True)  # (U, 1)
        return F.embedding_bag(
            places,
            directions,
            offsets,
            mode="sum",
            per_sample_weights=F.embedding(places, magnitudes)[:, 0] * counts,
            include_last_offset=True,
        )

    def penalty(self, bags: BagBatch) -> Tensor:
        """Return the mean over bags of Σ_t |m_t|, over its distinct words t."""
        device = self.magnitudes.device
        shares = np.bincount(bags.places, minlength=len(bags.words)) / (len(bags.offsets) - 1)
        words = torch.from_numpy(bags.words).to(device)
        magnitudes = F.embedding(words, self.magnitudes, sparse=True)[:, 0]
        return (magnitudes.abs() * torch.from_numpy(shares.astype(np.float32)).to(device)).sum()


class FieldEmbedder(nn.Module):
    """Weighted means of fields of a text:  e = Σ_f λ_f · f / ‖f‖, then of length 1.

    The λ are learnt and start at 1. Fields share their words, as Eq. 1 has it.

    :param num_fields: F.
    """

    def __init__(self, words: MagnitudeDirection, num_fields: int) -> None:
        super().__init__()
        self.words = words
        self.scalars = nn.Parameter(torch.ones(num_fields))

    def forward(self, bags: BagBatch) -> Tensor:
        """Return (B, D) vectors; zeros for a text without words.

        :param bags: of the first field of all texts, then of the second, and so on.
        """
        fields = F.normalize(self.words(bags), dim=1).unflatten(0, (len(self.scalars), -1))
        return F.normalize(torch.einsum("f,fbd->bd", self.scalars, fields), dim=1)


def two_adams(module: nn.Module, learning_rate: float) -> tuple[torch.optim.Optimizer, ...]:
    """Return Adam for sparse gradients, which moves no word that a batch lacks, and for dense ones.

    :param module: whose magnitudes and directions have sparse gradients.
    """
    words = [part for part in module.modules() if isinstance(part, MagnitudeDirection)]
    sparse = [parameter for part in words for parameter in part.parameters()]
    known = set(map(id, sparse))
    dense = [parameter for parameter in module.parameters() if id(parameter) not in known]
    return (
        torch.optim.SparseAdam(sparse, lr=learning_rate),
        torch.optim.Adam(dense, lr=learning_rate),
    )
