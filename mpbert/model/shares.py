"""One batch for several processes: each encodes a share of it, and all see all of its papers.

A process computes the losses of its own manuscripts, against the papers of the whole batch. Vectors
of papers are gathered with their gradients: what the losses of all processes want of a paper comes
back to the process that has encoded it, and is added up there. So the sum of the gradients of all
processes is the gradient of the batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, distributed

from mpbert.foundation.ragged import offsets_of


@dataclass(frozen=True)
class Processes:
    """Which of several processes this one is.

    :param rank: its number, from 0.
    :param count: how many train together.
    """

    rank: int = 0
    count: int = 1

    @classmethod
    def now(cls) -> "Processes":
        """Return those of the process group of torch; without one, this process alone."""
        if not (distributed.is_available() and distributed.is_initialized()):
            return cls()
        return cls(distributed.get_rank(), distributed.get_world_size())

    def share(self, costs: np.ndarray) -> "Share":
        """Divide items so that the processes have about the same costs.

        :param costs: (M,) cost of each item; at least one item.
        """
        total = offsets_of(np.ceil(costs).astype(np.int64))
        wanted = total[-1] * np.arange(self.count + 1) / self.count
        bounds = np.searchsorted(total, wanted, side="left")
        bounds[0], bounds[-1] = 0, len(costs)
        return Share(tuple(np.diff(bounds).tolist()), self.rank)


ALONE = Processes()


@dataclass(frozen=True)
class Share:
    """The items of a batch that each process has, one process after another.

    :param sizes: (P,) how many each has; may be 0.
    :param rank: which process this one is.
    """

    sizes: tuple[int, ...]
    rank: int

    @property
    def own(self) -> int:
        """How many items this process has."""
        return self.sizes[self.rank]

    @property
    def first(self) -> int:
        """Its first item."""
        return sum(self.sizes[: self.rank])

    @property
    def read(self) -> np.ndarray:
        """What it reads: its items, or the first of all where it has none.

        That one fills a batch, which is never empty. It is not gathered, and has no loss.
        """
        return np.arange(self.first, self.first + self.own) if self.own else np.arange(1)

    def gather(self, x: Tensor) -> Tensor:
        """Return (M, ...) the items of all processes, with gradient.

        :param x: (R, ...) of the items that this process has ``read``.
        """
        return x if len(self.sizes) == 1 else _Gather.apply(x[: self.own], self.sizes, self.rank)

    def gather_ragged(self, owners: Tensor, *rows: Tensor) -> tuple[Tensor, ...]:
        """Return the rows of the items of all processes, of which each item has several.

        :param owners: (N,) the item of each row, ascending: its place in what was ``read``.
        :param rows: (N, ...) each.
        :returns: (S,) owners, as items of all processes, and (S, ...) the rows of each array.
        """
        if len(self.sizes) == 1:
            return owners, *rows
        kept = int((owners < self.own).sum())
        count = torch.tensor([kept], device=owners.device)
        counts = Share((1,) * len(self.sizes), self.rank).gather(count)
        pieces = Share(tuple(counts.tolist()), self.rank)
        return tuple(pieces.gather(part) for part in (owners + self.first, *rows))


class _Gather(torch.autograd.Function):
    """Rows of all processes; the gradient of a row is the sum of those of all processes."""

    @staticmethod
    def forward(ctx: torch.autograd.Function, x: Tensor, sizes: Sequence[int], rank: int) -> Tensor:
        ctx.start, ctx.own = sum(sizes[:rank]), sizes[rank]
        padded = x.new_zeros(max(sizes), *x.shape[1:])  # all processes send as much
        padded[: len(x)] = x
        parts = [torch.empty_like(padded) for _ in sizes]
        distributed.all_gather(parts, padded)
        return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])

    @staticmethod
    def backward(ctx: torch.autograd.Function, grad: Tensor) -> tuple[Tensor, None, None]:
        grad = grad.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(grad)
        return grad[ctx.start : ctx.start + ctx.own], None, None
