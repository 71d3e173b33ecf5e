"""Papers whose authors a sentence names, as "Ixaru's book" does."""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from mpbert.foundation.lazy_patterns import lazy_re

_NAME = lazy_re(r"[A-Z][A-Za-z]{3,}")
_PARTICLES = lazy_re(r",? \(?Eds?\.?\)?$")


class NamedAuthors:
    """Finds papers by the last names of their authors, of four letters or more.

    :param authors: of each paper, as its record names them.
    """

    def __init__(self, authors: Sequence[Sequence[str]]) -> None:
        self._rows: dict[str, list[int]] = defaultdict(list)
        for row, names in enumerate(authors):
            for family in {_family(name) for name in names} - {""}:
                self._rows[family].append(row)
        self._num_papers = len(authors)

    def named(self, sentence: str) -> np.ndarray:
        """Return (N,) whether a sentence names an author of a paper, with a capital letter."""
        found = np.zeros(self._num_papers)
        for name in _NAME.findall(_plain(sentence)):
            found[self._rows.get(name.casefold(), [])] = 1
        return found


def _family(name: str) -> str:
    """Return the last name, in small letters; empty for one of fewer than four letters."""
    name = _PARTICLES.sub("", _plain(name))
    words = name.partition(",")[0].split() if "," in name else name.split()
    found = _NAME.match(words[-1]) if words else None
    return found[0].casefold() if found else ""


def _plain(text: str) -> str:
    """Return a text without accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
