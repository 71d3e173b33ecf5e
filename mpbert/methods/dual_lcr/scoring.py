"""The network of DualLCR on texts of a corpus: contexts, papers, and pairs of both."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.foundation.growing_arrays import room_on_disk
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import ranges
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.dual_lcr.bibliography import AuthorsAndCitations
from mpbert.methods.dual_lcr.model import DualNetwork, States
from mpbert.methods.dual_lcr.texts import CitingTexts

_TEXTS = 256  # read at once


@dataclass(frozen=True)
class ContextPairs:
    """Pairs of a context and a paper.

    :param context: (P,) which context; ``years`` (P,) of its paper.
    :param rows: (U,) of papers; ``paper`` (P,) which of them.
    """

    context: np.ndarray
    rows: np.ndarray
    paper: np.ndarray
    years: np.ndarray

    def scores(
        self,
        network: DualNetwork,
        contexts: Tensor,
        papers: States,
        bibliography: AuthorsAndCitations,
    ) -> Tensor:
        """Return (P,) scores.

        :param contexts: (B, D); ``papers`` states of the rows.
        """
        citations = bibliography.citations(self.rows[self.paper], self.years)
        arrays = self.context, bibliography.authors[self.rows], citations, self.paper
        context, authors, known, paper = (
            torch.from_numpy(array).to(contexts.device) for array in arrays
        )
        return network(F.embedding(context, contexts), papers, authors, known, paper)


class KeptStates:
    """States of the words of all papers, read once; float16, in a mapped file without a name.

    :param papers: N rows of places of words.
    """

    def __init__(self, network: DualNetwork, papers: Ragged) -> None:
        self._papers, self._device = papers, network.words.weight.device
        shape = max(len(papers.items), 1), 2 * network.lstm.hidden_size
        self._states = room_on_disk(shape, np.float16)
        for start in progress(range(0, len(papers), _TEXTS), "states of papers", "block"):
            rows = np.arange(start, min(start + _TEXTS, len(papers)))
            with torch.no_grad():
                found = read(network, papers.take(rows))
            places = ranges(papers.offsets[:-1][rows], papers.lengths[rows])
            self._states[places] = found.states[found.is_word].half().cpu().numpy()

    def take(self, rows: np.ndarray) -> States:
        """Return the states of some papers."""
        papers = self._papers.take(rows)
        _, is_word = papers.padded(0)
        places = ranges(self._papers.offsets[:-1][rows], papers.lengths)
        states = np.zeros((*is_word.shape, self._states.shape[1]), np.float32)
        states[is_word] = self._states[places]
        return States(*(torch.from_numpy(x).to(self._device) for x in (states, is_word)))


def context_vectors(
    network: DualNetwork, contexts: CitingTexts, citing: np.ndarray, papers: Ragged
) -> Tensor:
    """Return (B, D) vectors of contexts, which know the papers that cite.

    :param citing: (B,) rows of these papers.
    """
    rows, own = np.unique(citing, return_inverse=True)
    found = read(network, papers.take(rows))
    which = torch.from_numpy(own).to(found.states.device)
    marks = torch.from_numpy(contexts.marks).to(which.device)
    return network.contexts(read(network, contexts.words), marks, found, which)


def read(network: DualNetwork, texts: Ragged) -> States:
    """Return the states of texts, none of which is empty."""
    words, is_word = texts.padded(0)
    device = network.words.weight.device
    return network.states(torch.from_numpy(words).to(device), torch.from_numpy(is_word).to(device))
