"""The network of DualLCR: Medić and Šnajder (SDP 2020), as their code has it (``model.py``).

Symbols: h_t states of a BiLSTM over the words of a text; c context; p candidate; m the paper that
cites. All attention is additive, with weights of its own for each of the three texts,

    a_t = softmax_t v · tanh(W [q; h_t]),   A(q, h) = Σ_t a_t h_t

The state at the mark of the citation asks the context, then the context asks both papers:

    c = A_c(h_mark, h^c) + A_m(A_c(h_mark, h^c), h^m),   s_semantic = cos(c, A_p(c, h^p))
    s_bibliographic = σ(u · σ(U [authors; citations])),  authors = ReLU(max of convolutions)
    s = w_1 s_semantic + w_2 s_bibliographic,            w = softmax(σ(L c))
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mpbert.methods.dual_lcr.bibliography import NUM_CITATIONS

_KERNELS, _CHANNELS = (1, 2), 50  # of the convolutions over authors


@dataclass(frozen=True)
class States:
    """States of texts.

    :param states: (U, T, D); ``is_word`` (U, T).
    """

    states: Tensor
    is_word: Tensor


class WordAttention(nn.Module):
    """A(q, h), see the module.

    :param dim: D, of queries and states.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.of_query = nn.Linear(dim, 2 * dim, bias=False)
        self.of_state = nn.Linear(dim, 2 * dim, bias=False)
        self.weights = nn.Parameter(torch.randn(2 * dim))

    def forward(self, queries: Tensor, texts: States, which: Tensor) -> Tensor:
        """Return (P, D) sums.

        :param queries: (P, D); ``which`` (P,) place of the text that each asks.
        """
        keys = _taken(self.of_state(texts.states), which)  # (P, T, 2D)
        scores = torch.tanh(keys + self.of_query(queries)[:, None]) @ self.weights
        scores = scores.masked_fill(~texts.is_word[which], -torch.inf)
        return (scores.softmax(dim=1)[:, None] @ _taken(texts.states, which))[:, 0]


class AuthorConvolution(nn.Module):
    """Convolutions over the authors of a paper, the largest value of each channel.

    :param num_authors: known ones; 0 stands for another.
    """

    def __init__(self, num_authors: int, dim: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(num_authors + 1, dim, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(dim, _CHANNELS, size) for size in _KERNELS)

    def forward(self, authors: Tensor) -> Tensor:
        """Return (U, C) of (U, A) numbers of authors; A is at least 2."""
        found = self.vectors(authors).transpose(1, 2)
        return F.relu(torch.cat([each(found).amax(dim=2) for each in self.convolutions], dim=1))


class DualNetwork(nn.Module):
    """Scores of pairs of a context and a paper.

    :param vectors: (V, E) of words, as they start.
    :param hidden: states of each direction.
    """

    def __init__(self, vectors: Tensor, hidden: int, num_authors: int, author_dim: int) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors, freeze=False)
        self.lstm = nn.LSTM(vectors.shape[1], hidden, batch_first=True, bidirectional=True)
        dim, size = 2 * hidden, len(_KERNELS) * _CHANNELS + NUM_CITATIONS
        self.of_context, self.of_citing, self.of_paper = (WordAttention(dim) for _ in range(3))
        self.authors = AuthorConvolution(num_authors, author_dim)
        self.inner, self.outer = nn.Linear(size, size // 2), nn.Linear(size // 2, 1)
        self.shares = nn.Linear(dim, 2)

    def states(self, words: Tensor, is_word: Tensor) -> States:
        """Return the states of (U, T) words."""
        lengths = is_word.sum(dim=1).cpu()
        packed = pack_padded_sequence(self.words(words), lengths, True, enforce_sorted=False)
        found, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return States(found, is_word)

    def contexts(self, contexts: States, marks: Tensor, citing: States, which: Tensor) -> Tensor:
        """Return (B, D) vectors of contexts.

        :param marks: (B,) place of the mark in each.
        :param citing: of the papers that cite; ``which`` (B,) the one of each context.
        """
        every = torch.arange(len(marks), device=marks.device)
        places = marks[:, None, None].expand(-1, 1, contexts.states.shape[2])
        of_mark = contexts.states.gather(1, places)[:, 0]
        found = self.of_context(of_mark, contexts, every)
        return found + self.of_citing(found, citing, which)

    def forward(
        self, contexts: Tensor, papers: States, authors: Tensor, citations: Tensor, which: Tensor
    ) -> Tensor:
        """Return (P,) scores of pairs.

        :param contexts: (P, D); ``citations`` (P, 5) of the papers as the contexts know them.
        :param authors: (U, A) of the papers; ``which`` (P,) place of the paper of each pair.
        """
        semantic = F.cosine_similarity(contexts, self.of_paper(contexts, papers, which), dim=1)
        read = torch.cat([F.embedding(which, self.authors(authors)), citations], dim=1)
        of_both = self.outer(self.inner(read).sigmoid()).sigmoid()[:, 0]
        shares = self.shares(contexts).sigmoid().softmax(dim=1)
        return (shares * torch.stack([semantic, of_both], dim=1)).sum(dim=1)


def margin_loss(scores: Tensor, is_negative: Tensor, margin: float) -> Tensor:
    """Return the mean of max(0, s(c, p-) - s(c, p+) + m), the loss of the code's ``train.py``.

    :param scores: (B, 1 + K), the cited paper first.
    :param is_negative: (B, K), others are not compared.
    """
    losses = F.relu(scores[:, 1:] - scores[:, :1] + margin)
    return (losses * is_negative).sum() / is_negative.sum().clamp(min=1)


def _taken(rows: Tensor, which: Tensor) -> Tensor:
    """Return some of (U, T, D); the gradient is summed in one order, unlike that of an index."""
    return F.embedding(which, rows.flatten(1)).unflatten(1, rows.shape[1:])
