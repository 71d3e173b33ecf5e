"""What a sentence shows of whether it needs a citation: hashed words, pairs of words, shape, place.

Words are lower-case runs of letters and digits, so brackets and stops, which a citation that was
cut out may leave, are no feature. Each feature is a column of 65,536, by its hash.
"""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from mpbert.corpus.text import words

DIMENSIONS = 1 << 16
_WORD, _PAIR, _SHAPE = range(1, 4)
_START, _END = 0, 1  # stand for the words outside of a sentence
_PLACES = 20  # parts of a paper
_SHAPES = 6  # numbers that tell the shape of a sentence
_CAPITALS = re.compile(r"(?<=\s)[\"'“‘(]*[A-Z]")
_ACRONYMS = re.compile(r"\b[A-Z][A-Z0-9]+\b")


def columns_of(sentences: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of all sentences of a paper's body, and of which sentence each is.

    :param sentences: in order, without citation markers.
    :returns: (M,) int32 columns, of each sentence ascending and each once; (M,) int64 sentences.
    """
    bags = [words(text) for text in sentences]
    sizes = np.array([len(bag) for bag in bags], dtype=np.int64)
    flat = [code for bag in bags for code in (_START, *map(_hash, bag), _END)]
    hashes = np.array(flat, dtype=np.uint64)
    of = np.repeat(np.arange(len(bags)), sizes + 2)
    is_word = hashes > _END
    pairs = hashes[:-1] * np.uint64(1_000_003) + hashes[1:]
    together = of[:-1] == of[1:]
    count = max(len(sentences), 1)
    shapes = [
        _shape(text, size, number * _PLACES // count)
        for number, (text, size) in enumerate(zip(sentences, sizes.tolist(), strict=True))
    ]
    shape = np.array(shapes, dtype=np.uint64).reshape(-1, _SHAPES)
    parts = [
        (of[is_word], _mixed(hashes[is_word], _WORD)),
        (of[:-1][together], _mixed(pairs[together], _PAIR)),
        (np.repeat(np.arange(len(bags)), _SHAPES), _mixed(shape.ravel(), _SHAPE)),
    ]
    each = np.unique(np.concatenate([rows * DIMENSIONS + columns for rows, columns in parts]))
    return (each % DIMENSIONS).astype(np.int32), each // DIMENSIONS


@lru_cache(maxsize=1 << 18)
def _hash(word: str) -> int:
    """Return the hash of a word; all numbers are one word."""
    return zlib.crc32(b"0" if word.isdigit() else word.encode()) + _END + 1


def _shape(text: str, length: int, place: int) -> list[int]:
    """Return numbers, coarse: words, capitals within, acronyms, digits, quotes, place of 20."""
    counts = (
        *(place, min(length // 4, 15), min(len(_CAPITALS.findall(text)), 8)),
        *(min(len(_ACRONYMS.findall(text)), 5), min(sum(map(str.isdigit, text)), 5)),
        int('"' in text or "“" in text),
    )
    return [100 * kind + count for kind, count in enumerate(counts)]


def _mixed(hashes: np.ndarray, kind: int) -> np.ndarray:
    """Return columns: the high bits of a product, after Knuth's multiplicative hashing."""
    salted = hashes + np.uint64(kind * 0x9E3779B97F4A7C15 % (1 << 64))
    product = salted * np.uint64(0xBF58476D1CE4E5B9)
    return ((product >> np.uint64(33)) % np.uint64(DIMENSIONS)).astype(np.int64)
