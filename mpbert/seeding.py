"""Random generators by seed and purpose: a new consumer does not shift the others."""

import zlib

import numpy as np


def named_rng(seed: int, purpose: str, *indices: int) -> np.random.Generator:
    """Return a generator that depends on nothing but its arguments.

    :param seed: seed of the command.
    :param purpose: name of what the numbers are for, such as ``"sample contexts"``.
    :param indices: further numbers, for example epoch and row, so that any item can be drawn alone.
    """
    return np.random.default_rng([seed, zlib.crc32(purpose.encode()), *indices])
