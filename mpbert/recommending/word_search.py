"""Words found in texts as they lie in an index: no text is cut into words.

Symbols: C letters of a text, W words of it, F forms that are sought. A letter is a byte: a small
letter or digit of ASCII, one from 128 on for one of another script, or 0 for what is of no word,
see :func:`mpbert.corpus.text.words`. Words are the same where their first 16 letters are.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

_NONE = np.zeros(16, np.uint8)  # letters behind the last, which are read with it
_LOWS, _HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)  # bits of each byte
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)  # odd, so they mix
_FACTOR = np.uint32(0x9E3779B1)
_ASCII = bytes(ord(c.lower()) if c.isalnum() else 0 for c in map(chr, range(128))) + bytes(128)


def characters_of(text: bytes) -> np.ndarray:
    """Return the characters of a text, of which rare ones have two.

    :param text: UTF-8.
    """
    if text.isascii():
        return np.frombuffer(text, np.uint8)
    return np.frombuffer(text.decode().encode("utf-16-le"), "<u2")


def text_of(characters: np.ndarray) -> str:
    """Return the text of some characters."""
    return str(characters.tobytes(), "ascii" if characters.itemsize == 1 else "utf-16-le")


class WordSearch:
    """Finds words of some forms.

    :param forms: (F,) words in small letters; one at least.
    """

    def __init__(self, forms: Sequence[str]) -> None:
        letters, starts = _letters_of(characters_of(" ".join(forms).encode()))
        keys = _keys(*_eights(letters, starts))
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        self._may_begin = np.zeros(1 << 16, dtype=bool)
        self._may_begin[_beginnings(letters, starts)] = True

    def find(self, texts: Sequence[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for each text where words begin that are a form, and the numbers of the forms.

        :param texts: (C,) characters of each.
        """
        starts = list(map(self._likely, texts))
        keys = _keys(*map(np.concatenate, zip(*(eights for _, eights in starts), strict=True)))
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        is_same, numbers = self._keys[places] == keys, self._order[places]
        found, end = [], 0
        for own, _ in starts:
            part = slice(end, end + len(own))
            found.append((own[is_same[part]], numbers[part][is_same[part]]))
            end += len(own)
        return found

    def _likely(self, text: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Return (W,) where words begin that may be a form, and 16 letters of each."""
        letters, starts = _letters_of(text)
        starts = starts[self._may_begin[_beginnings(letters, starts)]]
        return starts, _eights(letters, starts)


def _letters_of(characters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (C + 16,) letters, zeros behind the text, and (W,) where words begin."""
    if characters.itemsize == 1:
        own = np.frombuffer(characters.tobytes().translate(_ASCII), np.uint8)
    else:
        own = _table()[characters]
    letters = np.concatenate([_NONE[:1], own, _NONE])
    is_word = letters != 0
    return letters[1:], np.flatnonzero(is_word[1:] > is_word[:-1])


def _beginnings(letters: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return (W,) from 0 to 65,535, the same for words with the same first three letters."""
    fours = _windows(letters, "<u4")[starts]
    first = np.where(fours & np.uint32(0xFF00), fours << np.uint32(8), fours << np.uint32(24))
    return first * _FACTOR >> np.uint32(16)


def _eights(letters: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (W,) uint64 and (W,): the first eight letters from each start on, and the next."""
    eights = _windows(letters, "<u8")
    return eights[starts], eights[starts + 8]


def _keys(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return (W,) uint64, the same for words with the same 16 letters.

    :param first: (W,) eight letters each, ``second`` the next eight.
    """
    (first, ends), (second, _) = _word_of(first), _word_of(second)
    return first * _FACTORS[0] + np.where(ends, np.uint64(0), second * _FACTORS[1])


def _word_of(eights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eight letters each, of which those from the first 0 on are 0; and if there is one.

    The lowest of the high bits that x - 1 sets and x does not is that of the first 0 in x (Warren,
    Hacker's Delight, 2nd edition, section 6-1); what lies below it stays.
    """
    zeros = (eights - _LOWS) & ~eights & _HIGHS
    return eights & ((zeros & (~zeros + np.uint64(1))) - np.uint64(1)), zeros > 0


def _windows(letters: np.ndarray, kind: str) -> np.ndarray:
    """Return the number that so many letters from each on are."""
    size = np.dtype(kind).itemsize
    return np.ndarray(len(letters) - size + 1, kind, letters, strides=(1,))


@cache
def _table() -> np.ndarray:
    """Return (65,536,) the letter of each character of UTF-16."""
    numbers = np.arange(1 << 16)
    characters = numbers.astype("<u4").view("<U1")
    small = np.char.lower(characters).astype("<U1").view("<u4")
    is_half = numbers >> 11 == 0xD800 >> 11  # of a rare character
    letters = np.where(small < 256, small, 128 + small % 96)  # beside those of Latin-1
    return np.where(np.char.isalnum(characters) | is_half, letters, 0).astype(np.uint8)
