"""Papers of an index by what is typed of their key, authors, title or year."""

import re
import unicodedata

import numpy as np

from mpbert.recommending.papers import IndexedPapers

_WORD = re.compile(r"[^\W\d_]+|\d+")


class PaperSearch:
    """What can be typed of each paper, in small letters without accents."""

    def __init__(self, papers: IndexedPapers) -> None:
        years = papers.years.tolist()
        each = zip(papers.keys, papers.authors, papers.titles, years, strict=True)
        self._texts = [
            _plain(f"{key} {' '.join(named)} {title} {year or ''}")
            for key, named, title, year in each
        ]

    def mask(self, typed: str) -> np.ndarray:
        """Return (N,) whether each paper holds all words that were typed, each begun or whole."""
        rows: list[int] | range = range(len(self._texts))
        for word in typed_words(typed):
            rows = [row for row in rows if word in self._texts[row]]
        mask = np.zeros(len(self._texts), dtype=bool)
        mask[rows] = True
        return mask


def typed_words(typed: str) -> list[str]:
    """Return the words of what was typed: "Smith2004deep" holds three."""
    return _WORD.findall(_plain(typed))


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))
