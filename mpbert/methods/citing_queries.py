"""Which training queries cite training papers, and which papers."""

from dataclasses import dataclass

import numpy as np

from mpbert.corpus.store import Queries
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers


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
