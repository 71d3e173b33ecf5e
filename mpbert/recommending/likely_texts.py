"""Which texts of a column may be among others, told from sums over their letters."""

from collections.abc import Collection

import numpy as np

from mpbert.foundation.growing_arrays import release
from mpbert.recommending.columns import TextColumn

_BYTES = 1 << 18  # letters that are summed up at once
LETTERS, DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"


def may_be(
    texts: TextColumn, others: Collection[str], characters: str = LETTERS + DIGITS
) -> np.ndarray:
    """Return (N,) whether the letters and digits of a text may be those of another.

    :param others: normal forms of titles, DOIs or keys. A text with letters beyond ASCII, or with a
        tag, may have any of them.
    :param characters: that are compared.
    """
    sums, found = sums_of(texts, characters)
    wanted, is_near = sums_of(TextColumn.of(list(others)), characters)[0], np.zeros(1 << 16, bool)
    is_near[wanted.astype(np.uint16)] = True  # most are told apart by their low bits
    near = np.flatnonzero(is_near[sums.astype(np.uint16)])
    found[near] |= np.isin(sums[near], wanted)
    return found


def sums_of(texts: TextColumn, characters: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (N,) the same number for texts of the same characters, in any order.

    And whether a text has letters beyond ASCII, or a tag.

    :param characters: that are looked at, those of one letter as the same.
    """
    values = _values(characters)
    sums, is_odd = np.zeros(len(texts), dtype=np.uint32), np.zeros(len(texts), dtype=bool)
    first = 0
    while first < len(texts):
        end = int(np.searchsorted(texts.offsets, texts.offsets[first] + _BYTES, side="right")) - 1
        end = max(end, first + 1)
        bounds = texts.offsets[first : end + 1]
        letters, bounds = texts.letters[bounds[0] : bounds[-1]], bounds - bounds[0]
        some = np.flatnonzero(bounds[1:] > bounds[:-1])
        if len(some):
            sums[first + some] = np.add.reduceat(values[letters], bounds[some])  # it may wrap
        odd = np.flatnonzero((letters >= 128) | (letters == ord("<")))
        is_odd[first + np.searchsorted(bounds, odd, side="right") - 1] = True
        release(texts.letters)
        first = end
    return sums, is_odd


def _values(characters: str) -> np.ndarray:
    """Return (256,) a number of each byte: those of small and capital characters are random."""
    values = np.zeros(256, dtype=np.uint32)
    random = np.random.default_rng(1)
    for character in characters:
        values[[ord(character), ord(character.upper())]] = random.integers(1 << 32)
    return values
