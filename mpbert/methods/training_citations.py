"""What training papers cite: by query, as a matrix, and counted up to a year."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.methods.citations_by_year import CitationsByYear

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse


def training_citations(store: CorpusStore, dtype: type = np.float32) -> "sparse.csr_array":
    """Return (N, N), 1 where a training paper, the row, cites a paper."""
    from scipy import sparse

    manuscripts = store.manuscripts("train")
    citing = np.repeat(manuscripts.citing_rows, np.diff(manuscripts.cited_offsets))
    ones = np.ones(len(citing), dtype=dtype)
    shape = store.num_papers, store.num_papers
    return sparse.csr_array((ones, (citing, manuscripts.cited_rows)), shape)


def counted_by_year(citations: "sparse.csr_array", years: np.ndarray) -> CitationsByYear:
    """Return the citations of training papers, to be counted up to a year.

    :param citations: (N, N) of :func:`training_citations`.
    :param years: (N,) of all papers.
    """
    citing, cited = citations.nonzero()
    return CitationsByYear(cited, years[citing])


def citations_and_age(
    store: CorpusStore, papers: np.ndarray, years: np.ndarray
) -> list[np.ndarray]:
    """Return what was known of papers in a year: (P,) ln(1 + citations) and (P,) ln(1 + age).

    Citations are those in training contexts, up to that year; age is in years, at least 0.

    :param papers: (P,) rows.
    :param years: (P,) of the queries.
    """
    training = store.contexts("train")
    citing_years = np.repeat(training.years, np.diff(training.cited_offsets))
    cited = CitationsByYear(training.cited_rows, citing_years).until(papers, years)
    return [np.log1p(cited), np.log1p(np.maximum(years - store.years[papers], 0))]


@dataclass(frozen=True)
class CitingQueries:
    """Queries that cite training papers, and these.

    :param manuscripts: (Q,) row of the manuscript of each.
    :param numbers: (Q,) which query of the split each is.
    :param offsets: (Q + 1,) of ``cited``; a query cites one or more.
    """

    manuscripts: np.ndarray
    numbers: np.ndarray
    offsets: np.ndarray
    cited: np.ndarray

    @classmethod
    def of(cls, queries: Queries, is_training: np.ndarray) -> "CitingQueries":
        """Return the queries that cite training papers.

        :param is_training: (N,) of papers.
        """
        known = is_training[queries.cited_rows]
        owners = row_numbers(np.diff(queries.cited_offsets))[known]
        counts = np.bincount(owners, minlength=len(queries))
        numbers = np.flatnonzero(counts)
        cited = queries.cited_rows[known]
        return cls(queries.citing_rows[numbers], numbers, offsets_of(counts[numbers]), cited)

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, places: np.ndarray) -> "CitingQueries":
        """Return some of them."""
        counts = np.diff(self.offsets)[places]
        cited = self.cited[ranges(self.offsets[places], counts)]
        return CitingQueries(
            self.manuscripts[places], self.numbers[places], offsets_of(counts), cited
        )
