"""Words of texts by number: the words of :func:`mpbert.corpus.text.words`, or their stems."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count, islice

import numpy as np

from mpbert.corpus.text import stem, words


class Vocabulary:
    """Words, or their stems, by number: in the order in which they came.

    :param known: (V,) words that are there from the beginning.
    :param grows: whether others are added; else they are skipped.
    """

    def __init__(self, known: Iterable[str] = (), stemmed: bool = True, grows: bool = True) -> None:
        self._stemmed, self._grows = stemmed, grows
        self._number_of = {word: number for number, word in enumerate(known)}
        self._forms: defaultdict[str, int] = defaultdict(count().__next__)  # as they are written
        self._of_form = np.zeros(0, dtype=np.int32)  # number of the word of each form

    def __len__(self) -> int:
        return len(self._number_of)

    def words(self) -> list[str]:
        """Return (V,) all words, by number."""
        return list(self._number_of)

    def numbers(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return (M,) how many words each text holds, and their numbers; -1 if one is skipped."""
        found = list(map(words, texts))
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        each = map(self._forms.__getitem__, chain.from_iterable(found))
        forms = np.fromiter(each, np.int32, int(lengths.sum()))
        fresh = list(islice(reversed(self._forms), len(self._forms) - len(self._of_form)))[::-1]
        self._of_form = np.concatenate([self._of_form, self.numbered(fresh)])
        return lengths, self._of_form[forms]

    def numbered(self, forms: Sequence[str]) -> np.ndarray:
        """Return (F,) int32 numbers of words by themselves, as they are written."""
        return np.fromiter(map(self._number, forms), np.int32, len(forms))

    def _number(self, form: str) -> int:
        word = stem(form) if self._stemmed else form
        if self._grows:
            return self._number_of.setdefault(word, len(self._number_of))
        return self._number_of.get(word, -1)
