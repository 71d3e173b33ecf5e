"""Random generators by seed and purpose: a new consumer does not shift the others."""

import zlib

import numpy as np


def named_rng(seed: int, purpose: str, *indices: int) -> "np.random.Generator":
    """Return a generator that depends on nothing but its arguments.

    :param seed: seed of the command.
    :param purpose: name of what the numbers are for, such as ``"sample contexts"``.
    :param indices: further numbers, for example epoch and row, so that any item can be drawn alone.
    """
    return np.random.default_rng([seed, zlib.crc32(purpose.encode()), *indices])


def hashed_uniform(seed: int, purpose: str, *keys: np.ndarray | int) -> np.ndarray:
    """Return numbers in (0, 1) that depend on nothing but the arguments at the same position.

    A counter-based generator (the finaliser of splitmix64): what is drawn for an item does not
    change with the batch, the worker or the order in which it is drawn.

    :param seed: seed of the command, 0 or more.
    :param keys: integers or integer arrays that broadcast together, such as epoch, item, place.
    :returns: float64 array of the broadcast shape.
    """
    state = np.uint64(seed) ^ np.uint64(zlib.crc32(purpose.encode()) << 32)
    with np.errstate(over="ignore"):
        mixed = _splitmix(np.asarray(state))
        for key in keys:
            mixed = _splitmix(mixed ^ np.asarray(key).astype(np.uint64))
    return ((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52  # exact: never 0 or 1


def _splitmix(x: np.ndarray) -> np.ndarray:
    """Steele, Lea and Flood (OOPSLA 2014): one step of splitmix64; wraps around on purpose."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
