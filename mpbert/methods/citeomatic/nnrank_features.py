"""What NNRank reads of pairs of a query and a paper, before anything is learnt."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.methods.citeomatic.field_bags import shared_words
from mpbert.methods.paper_parts import comparable
from mpbert.methods.rankings import Ranking, places_of
from mpbert.methods.training_citations import counted_by_year

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse

_MOST_NAMES = 8  # authors of a paper: App. A, Table 8
_SCALE = 50  # papers of a list that its scores are scaled by


class PairFeatures:
    """Queries and papers as numbers.

    :param queries: (Q, V) counts of each field of the queries.
    :param papers: (N, V) counts of each field of all papers.
    :param field_pairs: which field of a query is compared with which of a paper.
    :param names: (N, A) of each kind of metadata, see :func:`names_matrix`.
    :param citing_rows: (Q,) rows of the queries' papers.
    :param citations: (N, N) of training papers: row cites column.
    :param years: (N,) of all papers.
    """

    def __init__(
        self,
        queries: "Sequence[sparse.csr_array]",
        papers: "Sequence[sparse.csr_array]",
        field_pairs: Sequence[tuple[int, int]],
        names: "Sequence[sparse.csr_array]",
        citing_rows: np.ndarray,
        citations: "sparse.csr_array",
        years: np.ndarray,
    ) -> None:
        self.queries, self.papers, self.names = queries, papers, names
        self.field_pairs, self.citing_rows = list(field_pairs), citing_rows
        both = zip(papers, queries, strict=True)
        from scipy import sparse

        self.texts = [sparse.vstack(field, format="csr") for field in both]  # papers, then queries
        self.num_papers = papers[0].shape[0]
        self.in_citations = citations.sum(axis=0)
        self._years, self._known = years, counted_by_year(citations, years)

    def set_ranking(self, ranking: Ranking, selector: str) -> None:
        """Read the scores of a ranking of these queries.

        :param selector: ``scaled``: 1 for the first paper of a list and 0 for the 50th, or the last
            of a shorter list, so that the depth of a list does not matter; ``score``: as they are;
            ``off``: they are no feature, which is 0 then.
        """
        keys, _ = ranking.keys(self.num_papers)
        order = np.argsort(keys)
        self._ranked = keys[order]
        _, lowest = (np.where(np.isfinite(bound), bound, 0.0) for bound in ranking.bounds())
        best, low = (
            np.where(np.isfinite(bound), bound, 0.0) for bound in ranking.first(_SCALE).bounds()
        )
        if selector == "score":
            best, low = np.ones_like(best), np.zeros_like(low)
        is_read, spread = selector != "off", np.where(best > low, best - low, 1.0)
        query, rank = np.nonzero(ranking.rows >= 0)
        scores = (ranking.scores[query, rank] - low[query]) / spread[query]
        self._scores, self._lowest = scores[order] * is_read, (lowest - low) / spread * is_read

    def is_ranked(self, query: np.ndarray, paper: np.ndarray) -> np.ndarray:
        """Return (P,) whether the ranking has these pairs."""
        return places_of(self._ranked, query.astype(np.int64) * self.num_papers + paper) >= 0

    def numbers(self, query: np.ndarray, paper: np.ndarray) -> np.ndarray:
        """Return (P, 2) float32: ln(1 + in-citations), score of the ranking.

        In-citations are those by training papers of earlier years than the query's. A paper that
        the list of the query lacks has the lowest score of the list.
        """
        before = self._years[self.citing_rows[query]] - 1
        others = self._known.until(paper, before)
        place = places_of(self._ranked, query.astype(np.int64) * self.num_papers + paper)
        scores = np.where(place >= 0, np.append(self._scores, 0.0)[place], self._lowest[query])
        return np.stack([np.log1p(others), scores], axis=1).astype(np.float32)

    def intersections(self, query: np.ndarray, paper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the words that each pair shares, one pair of fields after another.

        :returns: words, and (F·P + 1,) offsets, P pairs of the first pair of fields first.
        """
        shared = [
            shared_words(self.queries[mine], self.papers[theirs], query, paper)
            for mine, theirs in self.field_pairs
        ]
        lengths = np.concatenate([np.diff(matrix.indptr) for matrix in shared])
        words = np.concatenate([matrix.indices for matrix in shared])
        return words.astype(np.int64), offsets_of(lengths)


def names_matrix(names: Sequence[Sequence[str]], is_training: np.ndarray) -> "sparse.csr_array":
    """Return (N, A), 1 where a paper has a name; names that no training paper has are left out.

    Names are the same as :func:`mpbert.methods.paper_parts.comparable` has it.

    :param names: (N,) of each paper, of which the first eight are read.
    :param is_training: (N,).
    """
    first = [list(filter(None, map(comparable, each[:_MOST_NAMES]))) for each in names]
    lengths = np.array([len(each) for each in first], dtype=np.int64)
    paper = row_numbers(lengths)
    flat = np.array([name for each in first for name in each], dtype=str)
    distinct, column = np.unique(flat, return_inverse=True)
    known = np.zeros(len(distinct), dtype=bool)
    known[column[is_training[paper]]] = True
    kept = known[column]
    number = np.cumsum(known) - 1
    ones = np.ones(int(kept.sum()), dtype=np.float32)
    shape = len(names), int(known.sum())
    from scipy import sparse

    matrix = sparse.csr_array((ones, (paper[kept], number[column[kept]])), shape)
    matrix.data[:] = 1  # a name that stands twice
    return matrix
