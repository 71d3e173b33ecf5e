"""The network of HAtten: Gu, Gao and Hahnloser (ECIR 2022), Sec. 4.1.

Two levels of the same kind: words make a paragraph, paragraphs make a document. Each is one layer
of a transformer encoder and multi-head pooling. Nothing is padded, see
:mod:`mpbert.methods.ragged_attention`.

Symbols: E elements of all rows (words, or paragraphs), D dimensions of a vector, H heads.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.foundation.ragged import budget_batches
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.hatten.documents import CONTEXT, Documents
from mpbert.methods.ragged_attention import Elements, attended

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

    with a weight a and D/H dimensions of v for each head.
    """

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.scores = nn.Linear(dim, heads)
        self.values = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x: Tensor, rows: Elements) -> Tensor:
        """Return (C, D), a vector for each row of the groups, in their order.

        :param x: (E, D).
        """
        scores, values = self.scores(x).float(), self.values(x).float()
        values = values.unflatten(1, (self.heads, -1))  # (E, H, D/H)
        pooled = [values[:0].flatten(1)]
        with _in_float32(x):
            for a, v in zip(rows.views(scores), rows.views(values), strict=True):
                weights = a.softmax(dim=1)  # (rows, length, H)
                pooled.append(torch.einsum("rlh,rlhd->rhd", weights, v).flatten(1))
        return self.output(F.relu(torch.cat(pooled)))


def _in_float32(x: Tensor) -> torch.autocast:
    """Return a context without bfloat16: small products of it are slower than float32 on a CPU."""
    return torch.autocast(x.device.type, enabled=False)


class AttentionLevel(nn.Module):
    """A layer of a transformer encoder (Vaswani et al., NIPS 2017, Sec. 3.1) and the pooling.

    :param hidden: inner size of the feed-forward network.
    :param dropout: of what attention and feed-forward network put out.
    """

    def __init__(self, dim: int, heads: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.projections = nn.Linear(dim, 3 * dim)
        self.attended = nn.Linear(dim, dim)
        self.attention_norm = nn.LayerNorm(dim)
        self.feed_forward = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))
        self.norm = nn.LayerNorm(dim)
        self.pooling = MultiHeadPooling(dim, heads)

    def forward(self, x: Tensor, rows: Elements, size: int) -> Tensor:
        """Return (size, D) float32; zero for a row without elements.

        :param x: (E, D), elements of the rows in the order of the groups.
        """
        x = self.attention_norm(x + self._dropped(self.attended(self._attention(x, rows))))
        x = self.norm(x + self._dropped(self.feed_forward(x)))
        pooled = self.pooling(x, rows).float()
        order = rows.order.to(x.device)
        return pooled.new_zeros(size, x.shape[1]).index_copy(0, order, pooled)

    def _attention(self, x: Tensor, rows: Elements) -> Tensor:
        projected = self.projections(x).float().unflatten(1, (3, self.heads, -1))  # (E, 3, H, D/H)
        with _in_float32(x):
            return attended(projected, rows)

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)


class HattenEncoder(nn.Module):
    """From documents to vectors; queries and papers share it.

    :param words: (V, D) word vectors, which stay as they are.
    :param longest: most words of a paragraph.
    """

    def __init__(
        self, words: np.ndarray, longest: int, heads: int, hidden: int, dropout: float
    ) -> None:
        super().__init__()
        dim = words.shape[1]
        self.register_buffer("words", torch.from_numpy(words), persistent=False)
        self.register_buffer(
            "positions", sinusoids(max(longest, CONTEXT + 1), dim), persistent=False
        )
        self.types = nn.Embedding(CONTEXT + 1, dim)
        self.paragraph = AttentionLevel(dim, heads, hidden, dropout)
        self.document = AttentionLevel(dim, heads, hidden, dropout)

    def forward(self, documents: Documents) -> Tensor:
        """Return (M, D) vectors; a paragraph that several documents share is read once."""
        rows = Elements.of(documents.paragraphs)
        paragraphs = self.embed_paragraphs(documents.words.take(rows.items.numpy()))
        return self.embed_documents(paragraphs, rows, documents)

    def embed_paragraphs(self, words: Ragged) -> Tensor:
        """Return (P, D) vectors of paragraphs of at least one word each."""
        rows, device = Elements.of(words), self.words.device
        x = F.embedding(rows.items[rows.places].to(device), self.words)  # (E, D)
        places = [np.tile(np.arange(length), count) for count, length in rows.groups]
        places = torch.from_numpy(np.concatenate([np.zeros(0, dtype=np.int64), *places]))
        x = x + F.embedding(places.to(device), self.positions)
        return self.paragraph(x, rows, len(words))

    def embed_documents(self, paragraphs: Tensor, rows: Elements, documents: Documents) -> Tensor:
        """Return (M, D) vectors; zero for a document without paragraphs.

        :param paragraphs: (P, D) vectors of the distinct paragraphs, which are ``rows.items``.
        """
        device = paragraphs.device
        types = torch.from_numpy(documents.types_of(rows.items.numpy()))[rows.places].to(device)
        x = F.embedding(rows.places.to(device), paragraphs)  # (E, D)
        x = x + self.types(types) + F.embedding(types, self.positions)
        return self.document(x, rows, len(documents))

    @torch.no_grad()
    def embed(self, documents: Documents, bfloat16: bool) -> np.ndarray:
        """Return (M, D) float32 vectors in blocks of little memory, without dropout."""
        training, device = self.training, self.words.device
        self.eval()
        used = np.unique(documents.paragraphs.items)
        words = documents.words.take(used)
        order = np.argsort(words.lengths, kind="stable")
        paragraphs = torch.zeros(len(used), self.words.shape[1], device=device)
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
