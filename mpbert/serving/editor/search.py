"""Papers of an index by what is typed of their key, authors, title or year."""

import re
import unicodedata

import numpy as np

from mpbert.recommending.papers import IndexedPapers

_WORD = re.compile(r"[^\W\d_]+|\d+")
_WORDS = 64  # whose papers are remembered


class PaperSearch:
    """What can be typed of each paper, in small letters without accents."""

    def __init__(self, papers: IndexedPapers) -> None:
        years = papers.years.tolist()
        each = zip(papers.keys, papers.authors, papers.titles, years, strict=True)
        self._texts = [
            _plain(f"{key} {' '.join(named)} {title} {year or ''}")
            for key, named, title, year in each
        ]
        self._found: dict[str, np.ndarray] = {}

    def mask(self, typed: str) -> np.ndarray:
        """Return (N,) whether each paper holds all words that were typed, each begun or whole."""
        mask = np.ones(len(self._texts), dtype=bool)
        for word in typed_words(typed):
            mask &= self._with(word)
        return mask

    def _with(self, word: str) -> np.ndarray:
        """Return the same of one word; what was typed before it may have found its beginning."""
        found = self._found.get(word)
        if found is None:
            if len(self._found) >= _WORDS:
                self._found.clear()
            before = self._found.get(word[:-1])
            rows = range(len(self._texts)) if before is None else before.nonzero()[0].tolist()
            found = np.zeros(len(self._texts), dtype=bool)
            found[[row for row in rows if word in self._texts[row]]] = True
            self._found[word] = found
        return found


def typed_words(typed: str) -> list[str]:
    """Return the words of what was typed: "Smith2004deep" holds three."""
    return _WORD.findall(_plain(typed))


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))
