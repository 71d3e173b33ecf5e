"""How often papers are cited, and cited together.

Counts that a model or a ranking learns from come from the training contexts alone: pass nothing
else.
"""

from typing import TYPE_CHECKING

import numpy as np

from mpbert.foundation.ragged import offsets_of, ranges

if TYPE_CHECKING:  # to tell types
    from scipy.sparse import csr_matrix


def citation_counts(cited_rows: np.ndarray, num_papers: int) -> np.ndarray:
    """Return (N,) how often each paper is cited: once per context that cites it."""
    return np.bincount(cited_rows, minlength=num_papers)


def cocitation_counts(
    cited_offsets: np.ndarray, cited_rows: np.ndarray, num_papers: int
) -> "csr_matrix":
    """Return the symmetric (N, N) counts of how often two papers are cited together.

    Zhang & Ma (WI-IAT 2021), Eq. 1, *frequency*. A unit is a context or a paper, as the rows
    that are passed say; the diagonal is empty. Each pair of a unit is written once and sorted by
    counting; a product of incidence matrices would multiply all pairs in both orders, and more.

    :param cited_offsets: (Q + 1,) unit i cites ``cited_rows[cited_offsets[i]:cited_offsets[i+1]]``,
        each paper once.
    """
    from scipy.sparse import coo_matrix

    cited_rows = np.asarray(cited_rows, dtype=np.int32)  # half the memory of int64
    places = np.arange(1, len(cited_rows) + 1)
    later = np.repeat(cited_offsets[1:], np.diff(cited_offsets)) - places  # (M,) in the same unit
    pairs = cited_rows[ranges(places, later)], np.repeat(cited_rows, later)
    seen = np.ones(len(pairs[0]), dtype=np.int32)
    unsorted = coo_matrix((seen, pairs), shape=(num_papers, num_papers))
    unsorted.has_canonical_format = True  # else scipy would compare what is counted below
    # by one paper, then by the other: each row is in order when both were counted
    counts = unsorted.tocsr().tocsc().T
    counts.sum_duplicates()
    return counts + counts.T.tocsr()


def merge_by_paper(
    citing_rows: np.ndarray, cited_offsets: np.ndarray, cited_rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and rows with a citing paper as the unit, each cited paper once."""
    citing = np.repeat(citing_rows, np.diff(cited_offsets))
    pairs = np.unique(np.stack([citing, cited_rows], axis=1), axis=0)
    _, counts = np.unique(pairs[:, 0], return_counts=True)
    return offsets_of(counts), pairs[:, 1]
