"""The network of HAtten: Gu, Gao and Hahnloser (ECIR 2022), Sec. 4.1.

Two levels of the same kind: words make a paragraph, paragraphs make a document. Each is one layer
of a transformer encoder and multi-head pooling. Nothing is padded, see
:mod:`mpbert.methods.ragged_attention`.

The paper's vector is what the second level makes. Ours may start as a weighted bag of words
(:mod:`mpbert.methods.hatten.bag`), so that attention has to earn its place. It does two things to
the bag, and both start at zero:

    w_k = exp(log w + a·x_k),    e = bag + Linear_p(ReLU(...)) of Eq. 2

x_k: the state of the word in its paragraph, a: learnt and 0 at the start, as is the last Linear_p.
The weights of the words go over those of the pooling of words, too.

Symbols: E elements of all rows (words, or paragraphs), A dimensions of a level (``width``), D of a
word vector and of a document's vector, H heads.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.foundation.ragged import budget_batches
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.hatten.bag import STEP, WordBag
from mpbert.methods.hatten.documents import CONTEXT, Documents
from mpbert.methods.ragged_attention import Elements, attended, weighted_means

_MAX_TOKENS = 1 << 15  # words whose states are in memory at once when nothing is learnt
_BLOCK = 1 << 13  # documents, likewise


def sinusoids(length: int, dim: int) -> Tensor:
    """Return (T, D) positions: Vaswani et al. (NIPS 2017), Sec. 3.5.

    PE(t, 2i) = sin(t / 10000^(2i/D)),    PE(t, 2i+1) = cos(t / 10000^(2i/D))
    """
    columns = torch.arange(dim)
    angles = torch.arange(length)[:, None] / 10000 ** ((columns - columns % 2) / dim)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


class MultiHeadPooling(nn.Module):
    """One vector of the elements of a row, Eq. 1 and 2; Liu and Lapata (ACL 2019).

    a_k = softmax_k(Linear_a(x_k)),   v_k = Linear_v(x_k),   e = Linear_p(ReLU(Σ_k a_k v_k))

    with a weight a and A/H dimensions of v for each head.

    :param output: dimensions of e; None: A.
    """

    def __init__(self, dim: int, heads: int, output: int | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.scores = nn.Linear(dim, heads)
        self.values = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, output or dim)

    def forward(self, x: Tensor, rows: Elements, logarithms: Tensor | None = None) -> Tensor:
        """Return (C, output), a vector for each row of the groups, in their order.

        :param x: (E, A).
        :param logarithms: (E, 1) of weights by which those of the softmax are multiplied.
        """
        scores, values = self.scores(x).float(), self.values(x).float()
        scores = scores if logarithms is None else scores + logarithms
        values = values.unflatten(1, (self.heads, -1))  # (E, H, A/H)
        return self.output(F.relu(weighted_means(scores, values, rows)))


@dataclass(frozen=True)
class Shape:
    """What the two levels are like.

    :param width: A; 0: as the word vectors, which are read as they are.
    :param hidden: inner size of the feed-forward networks.
    :param dropout: of what attention and feed-forward networks put out.
    :param places_in_states: whether positions are added to the words themselves, as in the paper,
        or only to what attention compares and takes from them.
    :param word_dropout: share of the words of a batch that are left out in training.
    """

    heads: int
    hidden: int
    dropout: float
    width: int = 0
    places_in_states: bool = True
    word_dropout: float = 0.0


def by_row(vectors: Tensor, rows: Elements, size: int) -> Tensor:
    """Return (size, D) vectors in the order of the rows; zero for a row without elements.

    :param vectors: (C, D) of the rows of the groups.
    """
    order = rows.order.to(vectors.device)
    return vectors.new_zeros(size, vectors.shape[1]).index_copy(0, order, vectors)


class AttentionLevel(nn.Module):
    """A layer of a transformer encoder (Vaswani et al., NIPS 2017, Sec. 3.1) and the pooling.

    :param dim: A.
    :param output: dimensions of the vectors that it makes; None: A.
    """

    def __init__(self, dim: int, shape: Shape, output: int | None = None) -> None:
        super().__init__()
        self.heads, self.dropout, hidden = shape.heads, shape.dropout, shape.hidden
        self.projections = nn.Linear(dim, 3 * dim)
        self.attended = nn.Linear(dim, dim)
        self.attention_norm = nn.LayerNorm(dim)
        self.feed_forward = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))
        self.norm = nn.LayerNorm(dim)
        self.pooling = MultiHeadPooling(dim, shape.heads, output)

    def states(self, x: Tensor, rows: Elements, places: Tensor | None = None) -> Tensor:
        """Return (E, A), what the layer makes of the elements.

        :param x: (E, A), elements of the rows in the order of the groups.
        :param places: (E, A) what attention alone adds to them; None: nothing.
        """
        read = self._attention(x if places is None else x + places, rows)
        x = self.attention_norm(x + self._dropped(self.attended(read)))
        return self.norm(x + self._dropped(self.feed_forward(x)))

    def pooled(
        self, states: Tensor, rows: Elements, size: int, logarithms: Tensor | None = None
    ) -> Tensor:
        """Return (size, output) float32; zero for a row without elements.

        :param logarithms: (E, 1) of weights of the elements; None: all 1.
        """
        pooled = self.pooling(states, rows, logarithms).float()
        return by_row(pooled, rows, size)

    def _attention(self, x: Tensor, rows: Elements) -> Tensor:
        projected = self.projections(x).unflatten(1, (3, self.heads, -1))  # (E, 3, H, A/H)
        return attended(projected, rows)

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training) if self.dropout else x


class HattenEncoder(nn.Module):
    """From documents to vectors; queries and papers share it.

    :param words: (V, D) word vectors, which the levels read as they are.
    :param longest: most words of a paragraph.
    :param bag: what its vectors start as; None: they are what the levels make alone.
    """

    def __init__(
        self, words: np.ndarray, longest: int, shape: Shape, bag: WordBag | None = None
    ) -> None:
        super().__init__()
        dim = words.shape[1]
        self.width = shape.width or dim
        self.places_in_states, self.word_dropout = shape.places_in_states, shape.word_dropout
        self.register_buffer("words", torch.from_numpy(words), persistent=False)
        self.register_buffer(
            "positions", sinusoids(max(longest, CONTEXT + 1), self.width), persistent=False
        )
        self.narrow = nn.Linear(dim, self.width, bias=False) if shape.width else None
        self.types = nn.Embedding(CONTEXT + 1, self.width)
        self.paragraph = AttentionLevel(self.width, shape)
        self.document = AttentionLevel(self.width, shape, dim)
        self.bag = bag
        self.emphasis = nn.Linear(self.width, 1, bias=False) if bag else None
        if self.emphasis is not None:
            for layer in (self.emphasis, self.document.pooling.output):
                for parameter in layer.parameters():
                    nn.init.zeros_(parameter)

    def forward(self, documents: Documents) -> Tensor:
        """Return (M, D) vectors; a paragraph that several documents share is read once."""
        rows = Elements.of(documents.paragraphs)
        words = documents.words.take(rows.items.numpy())
        if self.training and self.word_dropout:
            words = words.where(torch.rand(len(words.items)).numpy() >= self.word_dropout)
        paragraphs = self.embed_paragraphs(words)
        return self.embed_documents(paragraphs, rows, documents)

    def embed_paragraphs(self, words: Ragged) -> Tensor:
        """Return (P, A) vectors of paragraphs, and beside them their bags, (P, A + D), if any."""
        rows, size = Elements.of(words), len(words)
        states = self._word_states(rows)
        if self.bag is None:
            return self.paragraph.pooled(states, rows, size)
        logarithms = self.bag.log_weights_of(rows) + STEP * self.emphasis(states).float()  # (E, 1)
        pooled = self.paragraph.pooled(states, rows, size, logarithms)
        return torch.cat([pooled, by_row(self.bag.sums(rows, logarithms), rows, size)], dim=1)

    def _word_states(self, rows: Elements) -> Tensor:
        device = self.words.device
        x = F.embedding(rows.items.to(device), self.words)  # (U, D), of the distinct words
        if self.narrow is not None:
            x = self.narrow(x)
        x = F.embedding(rows.places.to(device), x)  # (E, A)
        numbers = [np.tile(np.arange(length), count) for count, length in rows.groups]
        numbers = torch.from_numpy(np.concatenate([np.zeros(0, dtype=np.int64), *numbers]))
        places = F.embedding(numbers.to(device), self.positions)
        return self._states(self.paragraph, x, rows, places)

    def _states(self, level: AttentionLevel, x: Tensor, rows: Elements, places: Tensor) -> Tensor:
        if self.places_in_states:
            return level.states(x + places, rows)
        return level.states(x, rows, places)

    def embed_documents(self, paragraphs: Tensor, rows: Elements, documents: Documents) -> Tensor:
        """Return (M, D) vectors; zero for a document without paragraphs.

        :param paragraphs: (P, A) or (P, A + D) of the distinct ones, which are ``rows.items``.
        """
        device = paragraphs.device
        types = torch.from_numpy(documents.types_of(rows.items.numpy()))[rows.places].to(device)
        x = F.embedding(rows.places.to(device), paragraphs[:, : self.width])  # (E, A)
        states = self._states(
            self.document, x + self.types(types), rows, F.embedding(types, self.positions)
        )
        attended_to = self.document.pooled(states, rows, len(documents))
        if self.bag is None:
            return attended_to
        numbers = np.searchsorted(rows.items.numpy(), documents.paragraphs.items)
        bags = self.bag.documents(paragraphs[:, self.width :], numbers, documents)
        return bags + attended_to

    @torch.no_grad()
    def embed(self, documents: Documents, bfloat16: bool) -> np.ndarray:
        """Return (M, D) float32 vectors in blocks of little memory, without dropout."""
        training, device = self.training, self.words.device
        self.eval()
        used = np.unique(documents.paragraphs.items)
        words = documents.words.take(used)
        order = np.argsort(words.lengths, kind="stable")
        size = self.width + (self.words.shape[1] if self.bag else 0)
        paragraphs = torch.zeros(len(used), size, device=device)
        vectors = [np.zeros((0, self.words.shape[1]), dtype=np.float32)]
        with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
            for part in budget_batches(words.lengths[order], order, _MAX_TOKENS, None):
                found = self.embed_paragraphs(words.take(part))
                paragraphs[torch.from_numpy(part).to(device)] = found
            for start in range(0, len(documents), _BLOCK):
                block = documents.take(np.arange(start, min(start + _BLOCK, len(documents))))
                rows = Elements.of(block.paragraphs)
                places = torch.from_numpy(np.searchsorted(used, rows.items.numpy())).to(device)
                vectors.append(self.embed_documents(paragraphs[places], rows, block).cpu().numpy())
        self.train(training)
        return np.concatenate(vectors)
