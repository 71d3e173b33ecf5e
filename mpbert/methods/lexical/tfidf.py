"""TF-IDF: Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpbert.methods.lexical.method import LEXICAL, LexicalMethod

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse


@LEXICAL.register
@dataclass
class TfIdf(LexicalMethod):
    """Cosine of TF-IDF vectors: Manning, Raghavan and Schütze (2008), Sec. 6.4.1.

    weight(w, d) = (1 + ln count(w, d)) · (1 + ln((1 + N) / (1 + df(w)))),  scaled to length 1
    """

    name: ClassVar[str] = "tfidf"

    def weigh_papers(self, counts: "sparse.csr_array") -> "sparse.sparray":
        """Return rows of length 1, and keep the frequencies of words for the queries."""
        from scipy import sparse
        from sklearn.feature_extraction.text import TfidfTransformer  # a second, as above

        self._transformer = TfidfTransformer(sublinear_tf=True)
        return sparse.csr_array(self._transformer.fit_transform(counts.astype(np.float64)))

    def weigh_queries(self, counts: "sparse.csr_array") -> "sparse.sparray":
        """Return rows of length 1."""
        from scipy import sparse

        return sparse.csr_array(self._transformer.transform(counts.astype(np.float64)))
