"""Attention within rows of different lengths, of which none is padded.

Rows are sorted by length, and each group of equal length attends as a view.

Symbols: C rows, E elements of all of them, U distinct ones, D dimensions, H heads.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.foundation.ragged_rows import Ragged


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
    _, _, heads, size = projected.shape
    found = [projected.new_empty(0, heads * size)]  # a slice would have a gradient of all elements
    for group in rows.views(projected):
        queries, keys, values = group.permute(2, 0, 3, 1, 4)  # (rows, H, length, D/H)
        of_heads = F.scaled_dot_product_attention(queries, keys, values)
        found.append(of_heads.transpose(1, 2).flatten(0, 1).flatten(1))  # (elements, D)
    return torch.cat(found)
