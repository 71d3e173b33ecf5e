"""Rows of different lengths in one array: words or tokens of texts, paragraphs of documents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.foundation.ragged import offsets_of, ranges, row_numbers


@dataclass(frozen=True)
class Ragged:
    """M rows of different lengths: row i is ``items[offsets[i]:offsets[i + 1]]``."""

    items: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of_lengths(cls, items: np.ndarray, lengths: np.ndarray) -> "Ragged":
        """Return rows of these (M,) lengths, one after another."""
        return cls(items, offsets_of(lengths))

    @property
    def lengths(self) -> np.ndarray:
        """(M,) number of items of each row."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: np.ndarray) -> "Ragged":
        """Return some rows, in this order."""
        starts = self.offsets[:-1][rows]
        lengths = self.offsets[1:][rows] - starts
        return Ragged.of_lengths(self.items[ranges(starts, lengths)], lengths)

    def where(self, kept: np.ndarray) -> "Ragged":
        """Return all rows with those items alone that are marked."""
        lengths = np.bincount(row_numbers(self.lengths)[kept], minlength=len(self))
        return Ragged.of_lengths(self.items[kept], lengths)

    def cut(self, limit: int | np.ndarray) -> "Ragged":
        """Return the first ``limit`` items of each row, one limit for all or (M,)."""
        lengths = np.minimum(self.lengths, limit)
        return Ragged.of_lengths(self.items[ranges(self.offsets[:-1], lengths)], lengths)

    def merged(self, counts: np.ndarray) -> "Ragged":
        """Return (len(counts),) rows, each made of as many consecutive ones as is said."""
        return Ragged(self.items, self.offsets[offsets_of(counts)])

    def padded(self, pad: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (M, longest) int64 items, and which of them are no padding."""
        is_item = np.arange(self.lengths.max(initial=0)) < self.lengths[:, None]
        items = np.full(is_item.shape, pad, dtype=np.int64)
        items[is_item] = self.items
        return items, is_item


def stacked(parts: Sequence[Ragged]) -> Ragged:
    """Return the rows of the first part, then those of the second and so on."""
    items = np.concatenate([part.items for part in parts])
    return Ragged.of_lengths(items, np.concatenate([part.lengths for part in parts]))


def joined(*parts: Ragged) -> Ragged:
    """Return row by row the first part, then the second and so on; all have M rows of int32."""
    lengths = np.sum([part.lengths for part in parts], axis=0)
    items = np.empty(lengths.sum(), dtype=np.int32)
    places = offsets_of(lengths)[:-1]
    for part in parts:
        items[ranges(places, part.lengths)] = part.items
        places = places + part.lengths
    return Ragged.of_lengths(items, lengths)


def constant(item: int | None, num_rows: int) -> Ragged:
    """Return rows that hold this item alone, or nothing if there is none."""
    return repeated([] if item is None else [item], num_rows)


def repeated(items: Sequence[int], num_rows: int) -> Ragged:
    """Return rows that all hold the same items, as int32."""
    flat = np.tile(np.asarray(items, dtype=np.int32), num_rows)
    return Ragged.of_lengths(flat, np.full(num_rows, len(items), dtype=np.int64))
