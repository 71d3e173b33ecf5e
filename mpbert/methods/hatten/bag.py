"""The weighted bag of words that HAtten may start from: ours, not of the paper.

A paragraph is the sum of its words, each with a weight; a document is the sum of its paragraphs,
each with the weight of its type:

    p = unit(Σ_k w_k · v_k),    d = unit(Σ_p λ_type(p) · p)

Weights of words start as inverse document frequencies, the weight of a context above that of title
and abstract. What is learnt is how far weights and vectors move from where they start, so that
weight decay draws none of them to zero.

Symbols: V words, D dimensions of their vectors, P paragraphs, M documents, E words of all
paragraphs.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.foundation.ragged import offsets_of
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.hatten.documents import CONTEXT, Documents
from mpbert.methods.ragged_attention import Elements

_CONTEXT = 3.0  # weight of a local context at the start; that of titles and abstracts is 1
STEP = 5.0  # logarithms of weights move so many times as far in an update as vectors do


def inverse_frequencies(documents: Ragged, num_words: int) -> np.ndarray:
    """Return (V,) float32 ln((M + 1) / (m_t + 0.5)), M documents of which m_t hold the word t.

    :param documents: rows of word numbers.
    """
    owners = np.repeat(np.arange(len(documents)), documents.lengths)
    pairs = np.unique(owners * num_words + documents.items)
    holding = np.bincount(pairs % max(num_words, 1), minlength=num_words)
    return np.log((len(documents) + 1) / (holding + 0.5)).astype(np.float32)


class WordBag(nn.Module):
    """Weighted sums of words, and weighted sums of these.

    :param words: (V, D) vectors, of which the directions count.
    :param weights: (V,) positive weights at the start.
    :param learns_words: whether the vectors move, too; weights always do.
    """

    def __init__(self, words: Tensor, weights: np.ndarray, learns_words: bool) -> None:
        super().__init__()
        self.register_buffer("start", F.normalize(words, dim=1), persistent=False)
        self.register_buffer("log_start", torch.from_numpy(np.log(weights))[:, None], False)
        self.log_weights = nn.Parameter(torch.zeros(len(words), 1))
        self.moved = nn.Parameter(torch.zeros(words.shape)) if learns_words else None
        types = torch.zeros(CONTEXT + 1, 1)
        types[CONTEXT] = np.log(_CONTEXT)
        self.register_buffer("log_types_start", types, persistent=False)
        self.log_types = nn.Parameter(torch.zeros(CONTEXT + 1, 1))

    def log_weights_of(self, words: Elements) -> Tensor:
        """Return (E, 1) logarithms of the weights of words."""
        numbers = words.items.to(self.start.device)
        logarithms = F.embedding(numbers, self.log_start)
        logarithms = logarithms + STEP * F.embedding(numbers, self.log_weights)  # (U, 1)
        return F.embedding(words.places.to(self.start.device), logarithms)

    def sums(self, words: Elements, logarithms: Tensor) -> Tensor:
        """Return (C, D) sums of length 1, a row for each of the groups.

        :param logarithms: (E, 1) of the weights of the words.
        """
        numbers = words.items.to(self.start.device)
        vectors = F.embedding(numbers, self.start)
        if self.moved is not None:
            vectors = vectors + F.embedding(numbers, self.moved)
        sums = _sums(vectors, logarithms.exp()[:, 0], words.places, offsets_of(words.lengths))
        return F.normalize(sums, dim=1)

    def documents(self, paragraphs: Tensor, places: np.ndarray, documents: Documents) -> Tensor:
        """Return (M, D) sums of length 1; zero for a document without paragraphs.

        :param paragraphs: (P, D) sums of the distinct paragraphs.
        :param places: which of these each of the documents' paragraphs is.
        """
        types = torch.from_numpy(documents.types_of(documents.paragraphs.items))
        weights = (self.log_types_start + STEP * self.log_types).exp()
        weights = F.embedding(types.to(paragraphs.device), weights)[:, 0]
        sums = _sums(paragraphs, weights, torch.from_numpy(places), documents.paragraphs.offsets)
        return F.normalize(sums, dim=1)


def _sums(vectors: Tensor, weights: Tensor, places: Tensor, offsets: np.ndarray) -> Tensor:
    """Return the weighted sums of the vectors at these places, of each row.

    :param weights: (E,) of the places.
    """
    device = vectors.device
    ends = torch.from_numpy(offsets).to(device)
    return F.embedding_bag(
        places.to(device),
        vectors,
        ends,
        mode="sum",
        per_sample_weights=weights,
        include_last_offset=True,
    )
