"""The interface of all lexical methods, what words weigh, and their registry."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpbert.corpus.tasks import QUERIES
from mpbert.foundation.config import setting
from mpbert.foundation.registry import Registry
from mpbert.methods.method import Method

if TYPE_CHECKING:  # the help of commands lists names of methods alone
    import numpy as np
    import pyarrow as pa
    from scipy import sparse

    from mpbert.corpus.store import CorpusStore


@dataclass
class LexicalMethod(Method):
    """What words weigh; the fields of a member are its settings.

    :param fields: what of a paper is indexed, see :mod:`mpbert.corpus.fields`.
    :param citing_weight: how often the citing sentence counts beside its neighbours.
    :param query: what of a context is asked with: its sentences, title and abstract of its paper.
    """

    fields: str = setting("abstract")
    citing_weight: int = setting(3, minimum=1)
    query: str = setting("context", choices=QUERIES)

    def __post_init__(self) -> None:
        from mpbert.corpus.fields import split_fields

        split_fields(self.fields)

    def count_words(self, store: "CorpusStore") -> "tuple[sparse.csr_array, pa.Array]":
        """Return how often each paper holds each stem, (N, V), and the (V,) stems."""
        from mpbert.corpus.fields import paper_counts

        return paper_counts(store, self.fields, stemmed=True)

    def score_papers(self, scores: "np.ndarray") -> "np.ndarray":
        """Return (Q, N) scores of papers from (Q, N) scores of what was counted."""
        return scores

    @abstractmethod
    def weigh_papers(self, counts: "sparse.csr_array") -> "sparse.sparray":
        """Return (N, V) weights of the words of papers.

        :param counts: (N, V) how often each paper holds each word.
        """

    def weigh_queries(self, counts: "sparse.csr_array") -> "sparse.sparray":
        """Return (Q, V) weights of the words of queries, after those of the papers are known.

        :param counts: (Q, V) how often each query holds each word.
        """
        return counts


LEXICAL: Registry[type[LexicalMethod]] = Registry("lexical method", "mpbert.methods.lexical")
