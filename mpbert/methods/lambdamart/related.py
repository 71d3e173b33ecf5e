"""What the papers of one list tell of one another; with numpy alone, as an index needs it.

A candidate that is often cited together with other good candidates is a better one. With p(i | q),
the share of candidate i in the odds of a fusion, the feature of candidate d is

    f(q, d) = Σ_i p(i | q) · count(i, d) / Σ_j count(i, j),

where count(i, d) says how often both are cited together: by a context, or by a paper (Zhang & Ma,
WI-IAT 2021, Eq. 1), or whether i cites d, or d cites i. All counts are of known contexts up to the
query's year.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mpbert.foundation.ragged import distinct, offsets_of, ranges, row_numbers

NAMES = ["cocited_in_contexts", "cocited_by_papers", "cited_by_the_first", "cites_the_first"]


def shares_of_odds(scores: np.ndarray) -> np.ndarray:
    """Return (..., K) shares of the odds, which sum up to 1; 0 where the score is -inf.

    :param scores: (..., K) logarithms of odds.
    """
    best = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    odds = np.exp(scores - np.where(np.isfinite(best), best, 0.0))
    return odds / np.maximum(odds.sum(axis=-1, keepdims=True), 1e-300)


class KnownCitations:
    """The citations of contexts that are known, to be asked about the papers of a list.

    :param offsets: (C + 1,) context c cites ``cited[offsets[c]:offsets[c + 1]]``, each once.
    :param citing: (C,) rows of the papers of the contexts.
    :param years: (C,) of these papers.
    :param num_papers: N.
    :ivar last_year: of all contexts.
    """

    def __init__(
        self,
        offsets: np.ndarray,
        cited: np.ndarray,
        citing: np.ndarray,
        years: np.ndarray,
        num_papers: int,
    ) -> None:
        lengths = np.diff(offsets)
        pairs = distinct(citing[row_numbers(lengths)].astype(np.int64) * num_papers + cited)
        by_paper, cited_by_paper = np.divmod(pairs, num_papers)
        year_of = np.zeros(num_papers, dtype=np.int64)
        year_of[citing] = years
        lengths_by_paper = np.bincount(by_paper, minlength=num_papers)
        contexts = row_numbers(lengths)
        self._contexts = _Units.of(cited, contexts, years, lengths, num_papers)
        self._papers = _Units.of(cited_by_paper, by_paper, year_of, lengths_by_paper, num_papers)
        self.last_year = int(years.max(initial=0))
        self._cites = offsets_of(lengths_by_paper), cited_by_paper

    def among(self, rows: np.ndarray, shares: np.ndarray, year: int) -> list[np.ndarray]:
        """Return the (M,) features of :data:`NAMES`.

        :param rows: (M,) papers of one list, each once; ``shares`` (M,) of the odds.
        :param year: later contexts are not known.
        """
        in_contexts = self._contexts.together(rows, shares, year)[0]
        by_papers, times_cited = self._papers.together(rows, shares, year)
        return [in_contexts, by_papers, *self._citing(rows, shares, year, times_cited)]

    def _citing(
        self, rows: np.ndarray, shares: np.ndarray, year: int, times_cited: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (M,) how far the others cite each paper, and how far it cites the others.

        :param times_cited: (M,) by how many papers each is cited.
        """
        offsets, cited = self._cites
        lengths = np.where(self._papers.years[rows] <= year, offsets[rows + 1] - offsets[rows], 0)
        place = np.full(len(offsets) - 1, -1)  # of each paper in the list
        place[rows] = np.arange(len(rows))
        owners, others = row_numbers(lengths), place[cited[ranges(offsets[rows], lengths)]]
        owners, others = owners[others >= 0], others[others >= 0]
        of_citing = shares[owners] / lengths[owners]
        of_cited = shares[others] / np.maximum(times_cited[others], 1)
        return (
            np.bincount(others, weights=of_citing, minlength=len(rows)),
            np.bincount(owners, weights=of_cited, minlength=len(rows)),
        )


@dataclass(frozen=True)
class _Units:
    """Contexts, or citing papers, by the papers that they cite.

    :param offsets: (N + 1,) paper d is cited by ``units[offsets[d]:offsets[d + 1]]``.
    :param years: (U,) of the units; ``lengths`` (U,) how many papers each cites.
    """

    offsets: np.ndarray
    units: np.ndarray
    years: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(
        cls,
        cited: np.ndarray,
        units: np.ndarray,
        years: np.ndarray,
        lengths: np.ndarray,
        num_papers: int,
    ) -> "_Units":
        """Return them, of (P,) pairs of a cited paper and the unit that cites it."""
        offsets = offsets_of(np.bincount(cited, minlength=num_papers))
        return cls(offsets, units[np.argsort(cited, kind="stable")], years, lengths)

    def together(
        self, rows: np.ndarray, shares: np.ndarray, year: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (M,) Σ_i share(i) · count(i, d) / Σ_j count(i, j), and (M,) units that cite each.

        Counts are of units up to a year. A unit u that cites i and d counts one for both. So the
        sum is that over the units of d, of what their other papers bring,

            Σ_{u cites d} Σ_{i ≠ d, u cites i} share(i) / Σ_j count(i, j)
        """
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        owners, units = row_numbers(lengths), self.units[ranges(self.offsets[rows], lengths)]
        if year < self._last_year:
            is_known = self.years[units] <= year
            owners, units = owners[is_known], units[is_known]
        others = np.bincount(owners, weights=self.lengths[units] - 1, minlength=len(rows))
        brings = (shares / np.maximum(others, 1))[owners]
        found = np.bincount(units, weights=brings)[units] - brings
        found = np.bincount(owners, weights=found, minlength=len(rows))
        # a unit of one paper brings nothing, not even a rounding
        return np.maximum(found, 0.0), np.bincount(owners, minlength=len(rows))

    @cached_property
    def _last_year(self) -> int:
        return int(self.years.max(initial=0))
