"""Co-citation at a question: what is cited together with the papers that were accepted."""

import numpy as np

from mpbert.foundation.ragged import ranges, row_numbers
from mpbert.recommending.lookup import Lookup


def companion_scores(lookup: Lookup, accepted: np.ndarray, num_papers: int) -> np.ndarray:
    """Return (N,) how probably a paper is cited beside the accepted ones.

    The frequency of Zhang & Ma (WI-IAT 2021), Eq. 1, as a share, and its mean over accepted papers:

        p(d | A) = 1/|A| · Σ_{a ∈ A} count(a, d) / Σ_i count(a, i)

    :param accepted: (A,) rows; one that was never cited together with another adds nothing.
    """
    if not len(accepted):
        return np.zeros(num_papers)
    lengths = lookup.cocited_offsets[accepted + 1] - lookup.cocited_offsets[accepted]
    places = ranges(lookup.cocited_offsets[accepted], lengths)
    owners, counts = row_numbers(lengths), lookup.cocited_counts[places].astype(np.float64)
    totals = np.bincount(owners, weights=counts, minlength=len(accepted))
    shares = counts / totals[owners]
    scores = np.bincount(lookup.cocited_papers[places], weights=shares, minlength=num_papers)
    return scores / max(len(accepted), 1)


def companions_of(
    lookup: Lookup, row: int, accepted: np.ndarray, most: int
) -> list[tuple[int, int]]:
    """Return (row, count) of papers cited together with one: accepted first, then by count."""
    own = slice(lookup.cocited_offsets[row], lookup.cocited_offsets[row + 1])
    papers, counts = lookup.cocited_papers[own], lookup.cocited_counts[own]
    if not len(papers):
        return []
    keys = (papers, -counts, ~np.isin(papers, accepted)) if len(accepted) else (papers, -counts)
    order = np.lexsort(keys)[:most]
    return list(zip(papers[order].tolist(), counts[order].tolist(), strict=True))
