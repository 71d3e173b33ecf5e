"""The terms of SubRef's functions: relevance, similarity, influence, history of authors."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mpbert.corpus.fields import paper_counts
from mpbert.corpus.store import CorpusStore
from mpbert.methods.paper_parts import read_parts
from mpbert.methods.training_citations import training_citations
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore, check_ids

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse

_OWN_PAPER, _REFERENCE = 2.0, 1.0  # as in the authors' code


def unit_relevance(scores: np.ndarray) -> np.ndarray:
    """Return (n,) scores scaled to 0 for the last and 1 for the first; 1 where all are equal."""
    if not len(scores):
        return np.zeros(0)
    lowest, highest = scores.min(), scores.max()
    if lowest == highest:
        return np.ones(len(scores))
    return (scores - lowest) / (highest - lowest)


def tfidf(counts: "sparse.csr_array") -> "sparse.csr_array":
    """Return TF-IDF rows of length 1: Manning, Raghavan and Schütze (2008), Sec. 6.4.1.

        weight(w, d) = (1 + ln count(w, d)) · (1 + ln((1 + N) / (1 + df(w))))

    :param counts: (N, V) how often each paper holds each word.
    """
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfTransformer  # a second to import

    weights = TfidfTransformer(sublinear_tf=True).fit_transform(counts.astype(np.float64))
    return sparse.csr_array(weights)


def paper_vectors(store: CorpusStore, source: str) -> "sparse.csr_array | np.ndarray":
    """Return (N, D) rows of length 1, or 0 for a paper without words or vector.

    :param source: ``tfidf`` of title and abstract, or a vectors directory.
    :raises VectorsError: there is no such directory, or it is of another corpus.
    """
    if source == "tfidf":
        return tfidf(paper_counts(store, "abstract", stemmed=True)[0])
    found = VectorStore.load(Path(source), "papers")
    check_ids(found, store.paper_ids, str(Path(source) / "papers"))
    return normalized(found.vectors)


def cosines(vectors: "sparse.csr_array | np.ndarray", rows: np.ndarray) -> np.ndarray:
    """Return (n, n) float64 cosines between papers, 0 where they are negative.

    A negative one would make a step value grow, and the function not submodular.
    """
    from scipy import sparse

    of_rows = vectors[rows]
    found = of_rows @ of_rows.T
    dense = found.toarray() if sparse.issparse(found) else found
    return np.maximum(dense.astype(np.float64), 0.0)


def per_year(num_citing: np.ndarray, ages: np.ndarray) -> np.ndarray:
    """Return (n,) citing papers per year: influence as the authors' code has it.

    :param ages: (n,) years from the candidate to the query; less than 1 counts as 1.
    """
    return num_citing / np.maximum(ages, 1)


def author_history(store: CorpusStore, citing_rows: np.ndarray) -> "sparse.csr_array":
    """Return (U, N): what the authors of U papers wrote and cited in the years before each.

    history(q, k) = Σ_{a writes q} Σ_{p by a, year p < year q} ( 2·[p = k] + [p cites k] )
    """
    from scipy import sparse

    written = read_parts(store, "authors").matrix()  # (N, A)
    together = (written[citing_rows] @ written.T).tocoo()  # (U, N): authors in common
    is_earlier = store.years[together.col] < store.years[citing_rows][together.row]
    places = together.row[is_earlier], together.col[is_earlier]
    earlier = sparse.csr_array((together.data[is_earlier], places), shape=together.shape)
    return _OWN_PAPER * earlier + _REFERENCE * (earlier @ training_citations(store, np.float64))
