"""The sums of vectors of the training contexts that cite each paper."""

import numpy as np
import torch
from torch import Tensor

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import ranges, row_numbers

_PAIRS = 1 << 16  # of context and cited paper that are added at once


class CitingSums:
    """Sums over the training contexts of a corpus.

    :param contexts: (C, D) unit vectors of the contexts.
    """

    def __init__(self, store: CorpusStore, contexts: Tensor) -> None:
        training = store.contexts("train")
        self.contexts, self._training = contexts, training
        self._owners = row_numbers(np.diff(training.cited_offsets))
        self._counts = np.bincount(training.cited_rows, minlength=store.num_papers)
        self.of_all = contexts.new_zeros(store.num_papers, contexts.shape[1])  # (N, D)
        for start in range(0, len(self._owners), _PAIRS):
            pairs = np.arange(start, min(start + _PAIRS, len(self._owners)))
            self._add(self.of_all, training.cited_rows[pairs], pairs, 1)

    def without(self, manuscripts: np.ndarray, papers: np.ndarray) -> Tensor:
        """Return (M, D) sums of some papers without the contexts of some manuscripts.

        Where none is left, a sum is 0, not the rounding of one.

        :param manuscripts: rows of citing papers, each once; ``papers`` (M,) rows, ascending.
        """
        citing = self._training.citing_rows  # ascending
        first = np.searchsorted(citing, manuscripts, "left")
        contexts = ranges(first, np.searchsorted(citing, manuscripts, "right") - first)
        starts = self._training.cited_offsets[contexts]
        pairs = ranges(starts, self._training.cited_offsets[contexts + 1] - starts)
        cited = self._training.cited_rows[pairs]
        asked = np.isin(cited, papers)
        pairs, places = pairs[asked], np.searchsorted(papers, cited[asked])
        sums = self.of_all[torch.from_numpy(papers)]
        self._add(sums, places, pairs, -1)
        dropped = np.bincount(places, minlength=len(papers))
        sums[torch.from_numpy(self._counts[papers] == dropped)] = 0
        return sums

    def _add(self, sums: Tensor, places: np.ndarray, pairs: np.ndarray, sign: int) -> None:
        contexts = self.contexts[torch.from_numpy(self._owners[pairs])]
        sums.index_add_(0, rows_on(sums.device, places), contexts, alpha=sign)


def rows_on(device: torch.device, numbers: np.ndarray) -> Tensor:
    """Return whole numbers, such as those of rows, as a tensor of int64 on a device."""
    return torch.from_numpy(numbers.astype(np.int64)).to(device)
