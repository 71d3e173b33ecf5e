"""Stored states of the tokens of sentences, which enter the tuned layers of an encoder.

The layers below stay as they are, so that their states are made once. ``states.npy``, (N, E)
float16, token after token, text after text; ``state_offsets.npy``, (M + 1,) int64, text i owns
rows ``offsets[i]`` to ``offsets[i + 1]``. Texts are those of ``vectors.npy`` beside it.
"""

import shutil
from pathlib import Path

import numpy as np

from mpbert.foundation.arrays import load_array
from mpbert.foundation.errors import OutputError, VectorsError
from mpbert.foundation.ragged import ranges

STATES, OFFSETS = "states", "state_offsets"
_BYTES = 2  # of a number in float16


class TokenStates:
    """Read-only access to the stored states; they are mapped, not loaded.

    :param path: directory made by ``embed-sentences``.
    :param layers: tuned layers, which read them.
    :param num_texts: M.
    :raises VectorsError: it is damaged.
    """

    def __init__(self, path: Path, layers: int, num_texts: int) -> None:
        self.layers = layers
        try:
            self._states, self._offsets = (
                load_array(path / f"{name}.npy") for name in (STATES, OFFSETS)
            )
        except (OSError, ValueError) as error:
            raise VectorsError(
                f"{path}: unreadable ({' '.join(str(error).split())}); expected an output of "
                f"mpbert embed-sentences"
            ) from error
        if len(self._offsets) != num_texts + 1 or self._offsets[-1] != len(self._states):
            raise VectorsError(
                f"{path}: found states of {len(self._states):,} tokens of {len(self._offsets) - 1} "
                f"texts; expected those of {num_texts}: run mpbert embed-sentences again"
            )

    def lengths(self, texts: np.ndarray) -> np.ndarray:
        """Return (K,) tokens of (K,) texts."""
        return self._offsets[texts + 1] - self._offsets[texts]

    def gather(self, texts: np.ndarray) -> np.ndarray:
        """Return (N, E) float16 states of (K,) texts, one text after another."""
        return self._states[ranges(self._offsets[texts], self.lengths(texts))]


def check_room(folder: Path, num_tokens: int, dim: int) -> None:
    """Check that states find room on a disk; writing to a mapped file would end the process.

    :param folder: in which ``states.npy`` is made, or was begun.
    :raises OutputError: there is less room than they need.
    """
    file = folder / f"{STATES}.npy"
    has = file.stat().st_blocks * 512 if file.is_file() else 0
    needed, free = num_tokens * dim * _BYTES - has, shutil.disk_usage(folder).free
    if needed > free:
        raise OutputError(
            f"{folder.parent}: found {free / 1e9:.1f} GB free; expected {needed / 1e9:.1f} GB for "
            f"the states of {num_tokens:,} tokens: free space, choose another output, or leave out "
            f"--tuned-layers"
        )
