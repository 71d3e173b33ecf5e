"""The vector of a paper with those of training sentences that cite it, each read alone.

    v(p) = unit(a(p)) + unit(Σ_c unit(q(c)))

where a(p) is the vector of title and abstract, q(c) that of a training context that cites p. A
paper without such a context has the first term alone. A text that joins both (augmented abstracts
of MP-BERT4CR, Zhang and Ma, WI-IAT 2021, Sec. 5.2) has room for two contexts. This sum has room for
all, and a context is read once, whatever it cites.

Finished vectors have length 1. The query of a context may gain 0.3 of the vector of its
manuscript's title and abstract, and all parts may pass through linear maps that are learnt:
:mod:`mpbert.methods.citation_head`.
"""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.corpus.store import Contexts, CorpusStore, Queries
from mpbert.foundation.ragged import row_numbers
from mpbert.methods.citation_head import CitationHead
from mpbert.methods.citing_sums import CitingSums
from mpbert.methods.torch_training import array_of
from mpbert.pretrained.device import trained_on
from mpbert.vectors.normal import normalized


def with_citing(own: Tensor, citing: Tensor, counts: np.ndarray) -> Tensor:
    """Return (N, D) vectors of papers by the module's formula.

    :param own: (N, D), of titles and abstracts.
    :param citing: (C, D), of the contexts that cite the first paper, the second, and so on.
    :param counts: (N,), how many cite each.
    """
    owners = torch.from_numpy(row_numbers(counts)).to(own.device)
    sums = torch.zeros_like(own).index_add(0, owners, F.normalize(citing, dim=1))
    return F.normalize(own, dim=1) + F.normalize(sums, dim=1)


class CitingVectors:
    """Papers and queries of a corpus, of vectors of texts that were read alone.

    :param papers: (N, D) of titles and abstracts; ``contexts`` (C, D) of the training contexts.
    :param reads_manuscript: whether the query of a context has its manuscript's part.
    """

    def __init__(
        self, store: CorpusStore, papers: np.ndarray, contexts: np.ndarray, reads_manuscript: bool
    ) -> None:
        self._device = trained_on()
        self.own = self._unit(papers)
        self.sums = CitingSums(store, self._unit(contexts))
        self.head = CitationHead(papers.shape[1], reads_manuscript).to(self._device)

    @torch.no_grad()
    def papers(self) -> np.ndarray:
        """Return (N, D) of all papers."""
        return array_of(self.head.of_papers(self.own, self.sums.of_all))

    @torch.no_grad()
    def queries(self, queries: Queries, read: Callable[[], np.ndarray]) -> np.ndarray:
        """Return (Q, D) of contexts or of whole manuscripts.

        :param read: makes the (Q, D) vectors of the contexts alone.
        """
        manuscripts = self.own[torch.from_numpy(queries.citing_rows.astype(np.int64))]
        if not isinstance(queries, Contexts):
            return array_of(self.head.of_manuscripts(manuscripts))
        return array_of(self.head.of_contexts(self._unit(read()), manuscripts))

    def _unit(self, vectors: np.ndarray) -> Tensor:
        return torch.from_numpy(normalized(vectors)).to(self._device)
