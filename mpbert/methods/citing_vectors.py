"""The vector of a paper with those of training sentences that cite it, each read alone.

    v(p) = unit(a(p)) + unit(Σ_c unit(q(c)))

where a(p) is the vector of title and abstract, q(c) that of a training context that cites p. A
paper without such a context has the first term alone. A text that joins both (augmented abstracts
of MP-BERT4CR, Zhang and Ma, WI-IAT 2021, Sec. 5.2) has room for two contexts. This sum has room for
all, and a context is read once, whatever it cites.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import row_numbers


def with_citing(own: Tensor, citing: Tensor, counts: np.ndarray) -> Tensor:
    """Return (N, D) vectors of papers by the module's formula.

    :param own: (N, D), of titles and abstracts.
    :param citing: (C, D), of the contexts that cite the first paper, the second, and so on.
    :param counts: (N,), how many cite each.
    """
    owners = torch.from_numpy(row_numbers(counts)).to(own.device)
    sums = torch.zeros_like(own).index_add(0, owners, F.normalize(citing, dim=1))
    return F.normalize(own, dim=1) + F.normalize(sums, dim=1)


def papers_with_citing(store: CorpusStore, own: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Return (N, D) vectors of all papers of a corpus, with those of all training contexts.

    :param own: (N, D), of titles and abstracts; ``contexts`` (C, D), of the training contexts.
    """
    training = store.contexts("train")
    order = np.argsort(training.cited_rows, kind="stable")
    citing = row_numbers(np.diff(training.cited_offsets))[order]
    counts = np.bincount(training.cited_rows, minlength=store.num_papers)
    parts = torch.from_numpy(own), torch.from_numpy(contexts[citing])
    return with_citing(*parts, counts).numpy()
