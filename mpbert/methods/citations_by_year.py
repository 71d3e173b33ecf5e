"""Citations counted up to a year, with numpy alone: an index that answers needs no more."""

import numpy as np


class CitationsByYear:
    """Citations, to be counted as they were known in any year.

    :param cited: (M,) rows of cited papers.
    :param years: (M,) years of the papers that cite them.
    """

    def __init__(self, cited: np.ndarray, years: np.ndarray) -> None:
        self._before = int(years.min()) - 1 if len(years) else 0
        self._span = int(years.max()) - self._before + 1 if len(years) else 1
        self._keys = np.sort(self._key(cited, years))

    def until(self, papers: np.ndarray, years: np.ndarray) -> np.ndarray:
        """Return (P,) how often papers were cited by papers of a year or earlier.

        :param papers: (P,) rows.
        :param years: (P,), or one for all.
        """
        last = np.searchsorted(self._keys, self._key(papers, years), side="right")
        return last - np.searchsorted(self._keys, papers.astype(np.int64) * self._span)

    def _key(self, papers: np.ndarray, years: np.ndarray) -> np.ndarray:
        place = np.clip(years.astype(np.int64) - self._before, 0, self._span - 1)
        return papers.astype(np.int64) * self._span + place
