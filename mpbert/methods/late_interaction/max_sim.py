"""The score of late interaction."""

import numpy as np
import torch
from torch import Tensor


def max_sim(query: Tensor, texts: Tensor, offsets: np.ndarray) -> np.ndarray:
    """Return (M,) float32 mean cosines of the tokens of a query with their nearest token of a text.

        s(q, d) = 1/|q| Σ_i max_j q_i · d_j

    Khattab and Zaharia (SIGIR 2020), Eq. 3, which is the sum over i.

    :param query: (T, D) states of length 1.
    :param texts: (S, D) states of length 1 of M texts, one after another.
    :param offsets: (M + 1,) where each begins; none is empty.
    """
    if len(offsets) == 1:
        return np.zeros(0, np.float32)
    cosines = texts @ query.to(texts.device).T
    if cosines.device.type == "cpu":  # numpy is faster there
        return np.maximum.reduceat(cosines.numpy(), offsets[:-1], axis=0).mean(axis=1)
    lengths = torch.from_numpy(np.diff(offsets)).to(cosines.device)
    nearest = torch.segment_reduce(cosines, "max", lengths=lengths, axis=0)
    return nearest.mean(dim=1).cpu().numpy()
