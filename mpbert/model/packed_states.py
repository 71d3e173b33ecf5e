"""Token states of sentences, which tuned layers go on from, without padding."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from mpbert.model.packing import PackedPapers, Rows, inverse
from mpbert.pretrained.token_states import TokenStates


@dataclass(frozen=True)
class PackedStates:
    """Distinct sentences, ascending by number of tokens.

    :param states: (N, E) float16, sentence after sentence.
    :param sentences: the sentences as rows of states.
    """

    states: Tensor
    sentences: Rows

    @classmethod
    def of(cls, stored: TokenStates, texts: np.ndarray) -> tuple[Self, np.ndarray]:
        """Return the states of (M,) stored texts, and (M,) the place of each packed one there."""
        lengths = stored.lengths(texts)
        order = np.argsort(lengths, kind="stable")
        states = torch.from_numpy(stored.gather(texts[order]))
        return cls(states, Rows.of(lengths[order])), order

    def to(self, device: torch.device) -> "PackedStates":
        """Return the same states on a device."""
        return PackedStates(self.states.to(device), self.sentences.to(device))


def pack_states(
    stored: TokenStates, *batches: PackedPapers
) -> tuple[PackedStates, list[PackedPapers]]:
    """Return the states of the sentences of batches, each distinct text once.

    :param batches: with the stored texts of what the levels beside the bag read.
    :returns: the states, and the batches with the places of their sentences among these.
    """
    texts = [batch.upper.texts.numpy() for batch in batches]
    distinct, of_texts = np.unique(np.concatenate(texts), return_inverse=True)
    packed, order = PackedStates.of(stored, distinct)
    places = torch.from_numpy(inverse(order)[of_texts]).split([len(part) for part in texts])
    return packed, [
        replace(batch, upper=replace(batch.upper, texts=own))
        for batch, own in zip(batches, places, strict=True)
    ]
