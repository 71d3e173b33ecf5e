"""Attention within rows of different lengths, of which none is padded.

Rows are sorted by length, and each group of equal length attends as a view. A GPU takes all groups
at once, attention in half precision alone.

Symbols: C rows, E elements of all of them, U distinct ones, D dimensions, H heads.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.foundation.ragged_rows import Ragged
from mpbert.pretrained.attention import attend_at_once, takes_all_at_once


@dataclass(frozen=True)
class Elements:
    """The elements of some rows, rows ascending by their number of elements.

    :param items: (U,) the distinct ones: rows of a matrix of vectors.
    :param places: (E,) which of these each is.
    :param groups: (number of rows, elements of each) of each distinct length above 0.
    :param order: (C,) the row that each row of the groups is; those without elements are left out.
    """

    items: Tensor
    places: Tensor
    groups: list[tuple[int, int]]
    order: Tensor

    @classmethod
    def of(cls, rows: Ragged) -> "Elements":
        """Lay out rows of items, those of a row one after another."""
        order = np.argsort(rows.lengths, kind="stable")
        order = order[rows.lengths[order] > 0]
        by_length = rows.take(order)
        items, places = np.unique(by_length.items, return_inverse=True)
        values, counts = np.unique(by_length.lengths, return_counts=True)
        return cls(
            items=torch.from_numpy(items),
            places=torch.from_numpy(places),
            groups=list(zip(counts.tolist(), values.tolist(), strict=True)),
            order=torch.from_numpy(order),
        )

    @property
    def lengths(self) -> np.ndarray:
        """(C,) elements of each row of the groups."""
        counts, lengths = np.array(self.groups, dtype=np.int64).reshape(-1, 2).T
        return np.repeat(lengths, counts)

    def views(self, x: Tensor) -> list[Tensor]:
        """Return views (rows, elements, ...) of the groups of ``x`` (E, ...)."""
        parts = x.split([rows * length for rows, length in self.groups]) if self.groups else ()
        return [
            part.view(rows, length, *x.shape[1:])
            for part, (rows, length) in zip(parts, self.groups, strict=True)
        ]


def attended(projected: Tensor, rows: Elements) -> Tensor:
    """Return (E, D), what each element gets from those of its row.

    Scaled dot-product attention: Vaswani et al. (NIPS 2017), Sec. 3.2.1.

    :param projected: (E, 3, H, D/H): queries, keys and values.
    """
    if takes_all_at_once(projected) and rows.groups:
        offsets = torch.from_numpy(offsets_of(rows.lengths).astype(np.int32))
        return attend_at_once(projected, offsets.to(projected.device), rows.groups[-1][1])
    _, _, heads, size = projected.shape
    with _in_float32(projected):
        projected = projected.float()
        found = [projected.new_empty(0, heads * size)]  # a slice's gradient is of all elements
        for group in rows.views(projected):
            queries, keys, values = group.permute(2, 0, 3, 1, 4)  # (rows, H, length, D/H)
            of_heads = F.scaled_dot_product_attention(queries, keys, values)
            found.append(of_heads.transpose(1, 2).flatten(0, 1).flatten(1))  # (elements, D)
        return torch.cat(found)


def weighted_means(scores: Tensor, values: Tensor, rows: Elements) -> Tensor:
    """Return (C, D): the mean of the values of each row, weighted by the softmax of their scores.

        Σ_k softmax_k(a_k) v_k,   for each head

    :param scores: (E, H) float32; ``values`` (E, H, D/H) float32.
    """
    if scores.device.type == "cuda":
        return weighted_means_at_once(scores, values, rows)
    found = [values.new_empty(0, values.shape[1] * values.shape[2])]
    with _in_float32(values):
        for a, v in zip(rows.views(scores), rows.views(values), strict=True):
            found.append(torch.einsum("rlh,rlhd->rhd", a.softmax(dim=1), v).flatten(1))
    return torch.cat(found)


def weighted_means_at_once(scores: Tensor, values: Tensor, rows: Elements) -> Tensor:
    """Return what :func:`weighted_means` does, by sums over all rows; slower on a CPU."""
    owners = torch.from_numpy(row_numbers(rows.lengths)).to(scores.device)  # (E,)
    empty = scores.new_zeros(len(rows.order), scores.shape[1])  # (C, H)
    spread = owners[:, None].expand_as(scores)
    largest = empty.scatter_reduce(0, spread, scores.detach(), "amax", include_self=False)
    weights = (scores - largest.index_select(0, owners)).exp()
    sums = empty.index_add(0, owners, weights)
    mixed = values.new_zeros(len(rows.order), *values.shape[1:])
    mixed = mixed.index_add(0, owners, weights[:, :, None] * values)
    return (mixed / sums[:, :, None]).flatten(1)


def _in_float32(x: Tensor) -> torch.autocast:
    """Return a context without bfloat16: small products of it are slower than float32 on a CPU."""
    return torch.autocast(x.device.type, enabled=False)
