"""What authors and venue tell of a query and a candidate."""

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.methods.paper_parts import read_parts
from mpbert.methods.training_citations import training_citations

NAMES = {
    "authors": ["authors_in_common", "cited_by_its_authors"],
    "venue": ["same_venue"],
}


def metadata_features(
    store: CorpusStore, of: str, citing_rows: np.ndarray, papers: np.ndarray
) -> list[np.ndarray]:
    """Return the (P,) features of each name in :data:`NAMES`.

    :param of: ``authors`` or ``venue``.
    :param citing_rows: (P,) rows of the manuscripts.
    :param papers: (P,) rows of the candidates.
    """
    if of == "venue":
        return [_same_venue(store, citing_rows, papers)]
    rows, place = np.unique(citing_rows, return_inverse=True)
    written = read_parts(store, "authors").matrix()  # (N, A)
    together = (written[rows] @ written.T).tocsr()  # (U, N): authors in common
    known = together.tocoo()
    is_known = store.years[known.col] <= store.years[rows][known.row]
    theirs = type(together)(
        (np.ones(is_known.sum()), (known.row[is_known], known.col[is_known])), together.shape
    )  # (U, N), 1 for a paper of one of the authors, of the manuscript's year or earlier
    cited = (theirs @ training_citations(store, np.float64)).tocsr()  # (U, N)
    return [matrix[place, papers] for matrix in (together, cited)]


def _same_venue(store: CorpusStore, citing_rows: np.ndarray, papers: np.ndarray) -> np.ndarray:
    """Return (P,) 1 where both papers are of one venue; a paper without one shares none."""
    parts = read_parts(store, "venue")
    has = np.diff(parts.offsets) > 0
    venue = np.full(store.num_papers, -1)
    venue[has] = parts.ids
    return ((venue[citing_rows] == venue[papers]) & has[papers]).astype(float)
