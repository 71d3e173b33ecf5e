"""States of the tokens of texts, made once and kept in a file, and the score of texts by them."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from mpbert.foundation.growing_arrays import room_on_disk
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.foundation.ragged_rows import Ragged
from mpbert.pretrained.encoder import PretrainedEncoder, length_batches
from mpbert.vectors.normal import normalized

_BLOCK = 4096  # texts whose means are made at once


class LastStates:
    """States of length 1 of all tokens of M texts, special tokens included.

    They are float16, 2 · D bytes a token: in the memory of a GPU, where they fill at most half of
    what is free, else mapped, in a file without a name in ``TMPDIR``.

    :param encoder: whose last states they are.
    :param texts: M of them.
    :param limit: most tokens of a text; what is more is not read.
    :param what: for the progress bar.
    """

    def __init__(
        self, encoder: PretrainedEncoder, texts: Sequence[str], limit: int, what: str
    ) -> None:
        layout = encoder.layout(limit, limit)
        rows = layout.rows(layout.ended(encoder.tokenize(texts, limit)))
        self.offsets = rows.offsets
        shape = max(len(rows.items), 1), encoder.dim  # an empty file cannot be mapped
        self._states = _room(shape, encoder.device)
        for part in progress(length_batches(rows.lengths, encoder.batch_tokens), what, "part"):
            of_part = rows.take(part)
            places = ranges(rows.offsets[:-1][part], of_part.lengths)
            states = _states(encoder, of_part).to(self._states.device)
            self._states[torch.from_numpy(places)] = states

    def of(self, texts: np.ndarray) -> tuple[Tensor, np.ndarray]:
        """Return (S, D) float32 states of some texts, and (len(texts) + 1,) where each begins."""
        starts, ends = self.offsets[:-1][texts], self.offsets[1:][texts]
        states = self._states[torch.from_numpy(ranges(starts, ends - starts))]
        return states.float(), offsets_of(ends - starts)

    def means(self) -> np.ndarray:
        """Return (M, D) float32 mean states, of length 1."""
        sums = np.empty((len(self.offsets) - 1, self._states.shape[1]), np.float32)
        for start in range(0, len(sums), _BLOCK):
            block = np.arange(start, min(start + _BLOCK, len(sums)))
            states, offsets = self.of(block)
            sums[block] = np.add.reduceat(states.cpu().numpy(), offsets[:-1], axis=0)
        return normalized(sums)


def max_sim(query: Tensor, texts: Tensor, offsets: np.ndarray) -> np.ndarray:
    """Return (M,) float32 mean cosines of the tokens of a query with their nearest token of a text.

        s(q, d) = 1/|q| Σ_i max_j q_i · d_j

    Khattab and Zaharia (SIGIR 2020), Eq. 3, which is the sum over i.

    :param query: (T, D) states of length 1.
    :param texts: (S, D) states of length 1 of M texts, one after another.
    :param offsets: (M + 1,) where each begins; none is empty.
    """
    if len(offsets) == 1:
        return np.zeros(0, np.float32)
    cosines = texts @ query.to(texts.device).T
    if cosines.device.type == "cpu":  # numpy is faster there
        return np.maximum.reduceat(cosines.numpy(), offsets[:-1], axis=0).mean(axis=1)
    lengths = torch.from_numpy(np.diff(offsets)).to(cosines.device)
    nearest = torch.segment_reduce(cosines, "max", lengths=lengths, axis=0)
    return nearest.mean(dim=1).cpu().numpy()


def _room(shape: tuple[int, int], device: torch.device) -> Tensor:
    needed = shape[0] * shape[1] * torch.float16.itemsize
    if device.type == "cuda" and 2 * needed <= torch.cuda.mem_get_info(device)[0]:
        return torch.empty(shape, dtype=torch.float16, device=device)
    return torch.from_numpy(room_on_disk(shape, np.float16))


def _states(encoder: PretrainedEncoder, rows: Ragged) -> Tensor:
    with encoder.precision():
        states = encoder.states(rows)[1]
    return normalize(states, dim=1).half()
