"""BM25 over training contexts: papers that were cited where it was said alike, ours."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.fields import query_texts
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.config import setting
from mpbert.foundation.errors import CorpusError
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.method import LEXICAL
from mpbert.methods.lexical.votes import NEIGHBOURS, SHARPNESS, votes_of
from mpbert.retrieval.ranking import top_k

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse


@LEXICAL.register
@dataclass
class Bm25Contexts(Bm25):
    """Nearest neighbours among training contexts vote for what they cite.

        score(q, d) = Σ_{c among the nearest, c cites d} (s(q, c) / s(q, best c)) ^ sharpness

    with s of BM25 over the words of training contexts: the citing sentence, which counts as in a
    query, and its neighbours. A paper that no neighbour cites is not ranked.

    :param neighbours: contexts that vote, of all queries the same number.
    :param sharpness: 1: votes are as BM25 scores; larger: the best neighbours decide.
    """

    name: ClassVar[str] = "bm25_contexts"
    fields: str = setting("citing", choices=("citing",))
    neighbours: int = setting(NEIGHBOURS, minimum=1)
    sharpness: float = setting(SHARPNESS, minimum=0)

    def count_words(self, store: CorpusStore) -> "tuple[sparse.csr_array, pa.Array]":
        """Return how often each known context holds each stem, (C, V), and the (V,) stems."""
        from scipy import sparse

        contexts = store.contexts(*store.known)
        texts = query_texts(store, contexts, self.citing_weight)
        counts, vocabulary = count_matrix(pa.array(texts, pa.large_string()), stemmed=True)
        if not len(vocabulary):
            raise CorpusError(
                f"{store.path}: found no word in known contexts; expected some, choose another "
                f"lexical method"
            )
        ones = np.ones(len(contexts.cited_rows))
        parts = ones, contexts.cited_rows, contexts.cited_offsets
        self._cited = sparse.csr_array(parts, (len(contexts), store.num_papers))
        return sparse.csr_array(counts), vocabulary

    def score_papers(self, scores: np.ndarray) -> np.ndarray:
        """Return (Q, N) sums of votes from (Q, C) scores of contexts; -inf without a vote."""
        from scipy import sparse

        num_queries, num_contexts = scores.shape
        near, found = top_k(
            scores, min(self.neighbours, num_contexts), np.full(num_queries, -1, dtype=np.int64)
        )
        votes = votes_of(found, self.sharpness)
        queries = np.repeat(np.arange(num_queries), near.shape[1])
        votes = sparse.csr_array((votes.ravel(), (queries, near.ravel())), scores.shape)
        sums = (votes @ self._cited).toarray()
        return np.where(sums > 0, sums, -np.inf)
