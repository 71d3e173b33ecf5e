"""A bag of tokens that stands for an encoder of sentences: its vectors need no network.

Symbols: V tokens, E dimensions of the encoder, K sentences, D dimensions of the bag. Each token is
read alone (model2vec, https://github.com/MinishLab/model2vec); how means of tokens become vectors
of whole sentences is learnt from sentences, without any citation:

    x_k = Σ_t w_t · e_t / Σ_t w_t,    w_t = a / (a + p_t)        over the tokens of sentence k
    B = argmin Σ_k |x_k · B - y_k|² + r · |B|²                   y_k on the first D principal axes
    b_t = (e_t · B) ∘ s^-c,                                      s singular values of those axes

with e_t less the mean of all tokens, p_t the share of a token among all tokens (Arora et al., ICLR
2017), and c a half of whitening or more, which lets rare differences count.
"""

import numpy as np

from mpbert.foundation.ragged import offsets_of

_SMOOTH = 1e-3  # a
_LEAST = 1e-7  # share of a token that the sentences lack
_RIDGE = 1e-2  # r
_WHITE = 0.75  # c
_BLOCK = 512  # sentences that are read at once


def distilled(
    tokens: np.ndarray, vectors: np.ndarray, ids: np.ndarray, lengths: np.ndarray, dim: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (V, D) vectors of tokens, and (V,) their weights.

    :param tokens: (V, E) each token alone by the encoder.
    :param vectors: (K, E) of sentences by the encoder.
    :param ids: (N,) tokens of all sentences, one after another; ``lengths`` (K,) of each, above 0.
    """
    counts = np.bincount(ids, minlength=len(tokens))
    weights = _SMOOTH / (_SMOOTH + np.maximum(counts / counts.sum(), _LEAST))
    sums = np.add.reduceat(weights[ids], offsets_of(lengths)[:-1])
    shares = weights[ids] / np.repeat(sums, lengths)
    centred, alone = vectors - vectors.mean(axis=0), tokens - tokens.mean(axis=0)
    means = _sums(alone, ids, shares, offsets_of(lengths))
    _, singular, axes = np.linalg.svd(centred, full_matrices=False)
    wanted = centred @ axes[:dim].T
    square = means.T @ means + _RIDGE * np.eye(tokens.shape[1])
    maps = np.linalg.solve(square, means.T @ wanted)
    return alone @ maps * singular[:dim] ** -_WHITE, weights


def _sums(table: np.ndarray, ids: np.ndarray, weights: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return (K, E) weighted sums of the tokens of each sentence, which ends at ``ends[k + 1]``."""
    found = np.empty((len(ends) - 1, table.shape[1]), dtype=np.float32)
    for first in range(0, len(found), _BLOCK):
        borders = ends[first : first + _BLOCK + 1]
        part = slice(borders[0], borders[-1])
        read = table[ids[part]] * weights[part, None]
        found[first : first + _BLOCK] = np.add.reduceat(read, borders[:-1] - borders[0])
    return found
