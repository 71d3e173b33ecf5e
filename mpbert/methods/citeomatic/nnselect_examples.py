"""What NNSelect learns from: training queries, and which papers may be negatives of each."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from mpbert.corpus.store import Queries
from mpbert.methods.citeomatic.field_bags import CONTEXT, jaccard_similarity
from mpbert.methods.citeomatic.triplets import TripletSampler, cited_matrix, percentile_per_row


class TripletExamples:
    """Training queries of one task, with what may be sampled for them.

    :ivar manuscripts: (Q,) row of the paper of each query.
    :param fields: (Q, V) counts of each field of the queries.
    :param papers: (N, V) counts of each field of all papers.
    :param citations: (N, N) of training papers: row cites column.
    :param pool: (M,) rows of the training papers.
    :param percentile: 0 to 100, see the rule of App. C.
    """

    def __init__(
        self,
        queries: Queries,
        fields: Sequence[sparse.csr_array],
        papers: Sequence[sparse.csr_array],
        citations: sparse.csr_array,
        pool: np.ndarray,
        percentile: float,
    ) -> None:
        self.fields, self.manuscripts = fields, queries.citing_rows
        cited = cited_matrix(queries, citations.shape[0])
        self.sampler = TripletSampler(cited, queries.citing_rows, citations, pool, whole=True)
        texts = slice(CONTEXT + 1)  # App. C compares titles and abstracts
        self._words = sum(fields[texts]).tocsr(), sum(papers[texts]).tocsr()
        query, paper = self.sampler.pairs
        order = np.argsort(query, kind="stable")
        lengths = np.bincount(query, minlength=len(queries))
        similarities = jaccard_similarity(*self._words, query[order], paper[order])
        self._limits = percentile_per_row(similarities, lengths, percentile)

    def __len__(self) -> int:
        return len(self._limits)

    def is_unlike(self, query: np.ndarray, paper: np.ndarray) -> np.ndarray:
        """Return (P,) whether a neighbour shares few enough words with the query: App. C."""
        return jaccard_similarity(*self._words, query, paper) < self._limits[query]
