"""Token states of sentences, which tuned layers go on from, without padding."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.model.packing import PackedPapers, Rows, inverse

GatherStates = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""(M,) stored texts -> (N, E) float16 states of their tokens, text after text, and (M,) lengths."""


@dataclass(frozen=True)
class PackedStates:
    """Distinct sentences, ascending by number of tokens.

    :param states: (N, E) float16, sentence after sentence.
    :param sentences: the sentences as rows of states.
    """

    states: Tensor
    sentences: Rows

    @classmethod
    def of(cls, states: np.ndarray, lengths: np.ndarray) -> tuple[Self, np.ndarray]:
        """Return the states of (M,) texts packed, and (M,) the text of each packed sentence."""
        order = np.argsort(lengths, kind="stable")
        tokens = ranges(offsets_of(lengths)[:-1][order], lengths[order])
        return cls(torch.from_numpy(states[tokens]), Rows.of(lengths[order])), order

    def to(self, device: torch.device) -> "PackedStates":
        """Return the same states on a device."""
        return PackedStates(self.states.to(device), self.sentences.to(device))


def pack_states(
    gather: GatherStates, *batches: PackedPapers
) -> tuple[PackedStates, list[PackedPapers]]:
    """Return the states of the sentences of batches, each distinct text once.

    :param batches: with the stored texts of what the levels beside the bag read.
    :returns: the states, and the batches with the places of their sentences among these.
    """
    texts = [batch.upper.texts.numpy() for batch in batches]
    distinct, of_texts = np.unique(np.concatenate(texts), return_inverse=True)
    packed, order = PackedStates.of(*gather(distinct))
    places = torch.from_numpy(inverse(order)[of_texts]).split([len(part) for part in texts])
    return packed, [
        replace(batch, upper=replace(batch.upper, texts=own))
        for batch, own in zip(batches, places, strict=True)
    ]
