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


def cocited(
    cited_offsets: np.ndarray, cited_rows: np.ndarray, num_papers: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return with which papers each one is cited together, and how often.

    Zhang & Ma (WI-IAT 2021), Eq. 1, *frequency*. A unit is a context or a paper, as the rows
    that are passed say. Each pair of a unit is written once and sorted; a product of incidence
    matrices would multiply all pairs in both orders, and more.

    :param cited_offsets: (Q + 1,) unit i cites ``cited_rows[cited_offsets[i]:cited_offsets[i+1]]``,
        each paper once.
    :returns: (N + 1,) offsets, int32 papers, ascending at each paper, and int32 counts.
    """
    cited_rows = np.asarray(cited_rows, dtype=np.int32)  # half the memory of int64
    places = np.arange(1, len(cited_rows) + 1)
    later = np.repeat(cited_offsets[1:], np.diff(cited_offsets)) - places  # (M,) in the same unit
    first, second = np.repeat(cited_rows, later), cited_rows[ranges(places, later)]
    pairs = (np.minimum(first, second).astype(np.int64) << 32) + np.maximum(first, second)
    pairs, counts = np.unique(pairs, return_counts=True)
    low, high = pairs >> 32, pairs & 0xFFFFFFFF
    order = np.argsort(np.concatenate([(high << 32) + low, pairs]), kind="stable")
    offsets = offsets_of(np.bincount(np.concatenate([high, low]), minlength=num_papers))
    others = np.concatenate([low, high]).astype(np.int32)[order]
    return offsets, others, np.tile(counts.astype(np.int32), 2)[order]


def cocitation_counts(
    cited_offsets: np.ndarray, cited_rows: np.ndarray, num_papers: int
) -> "csr_matrix":
    """Return the counts of :func:`cocited` as a symmetric (N, N) matrix; its diagonal is empty."""
    from scipy.sparse import csr_matrix

    offsets, papers, counts = cocited(cited_offsets, cited_rows, num_papers)
    return csr_matrix((counts, papers, offsets), shape=(num_papers, num_papers))


def merge_by_paper(
    citing_rows: np.ndarray, cited_offsets: np.ndarray, cited_rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and rows with a citing paper as the unit, each cited paper once."""
    citing = np.repeat(citing_rows, np.diff(cited_offsets))
    pairs = np.unique(np.stack([citing, cited_rows], axis=1), axis=0)
    _, counts = np.unique(pairs[:, 0], return_counts=True)
    return offsets_of(counts), pairs[:, 1]
