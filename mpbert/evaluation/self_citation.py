"""How much a ranking favours papers of the query's own authors: Bhagavatula et al. (NAACL 2018).

Sec. 5, "Self-citation bias", and Fig. 4: the lower the ranks of papers that share an author with
the citing paper, the more a system favours self-citations. The paper's "max rank" is the best one,
the smallest number, as its code has it (``bias_experiments.ipynb``). A query whose first k papers
share no author counts with rank k + 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpbert.foundation.ragged import row_numbers

if TYPE_CHECKING:  # to tell types
    from scipy import sparse

_BLOCK = 1 << 18  # pairs compared at once


@dataclass(frozen=True)
class SelfCitation:
    """Means over queries, at each cutoff.

    :param cutoffs: (C,) how many papers of a ranking are looked at.
    :param mean_rank: (C,) of the papers that share an author, from 1 to k + 1.
    :param best_rank: (C,) of the first of them, from 1 to k + 1.
    :param share: (C,) of the queries for which there is one, from 0 to 1.
    """

    cutoffs: np.ndarray
    mean_rank: np.ndarray
    best_rank: np.ndarray
    share: np.ndarray


def author_matrix(names: Sequence[Sequence[str]]) -> "sparse.csr_array":
    """Return (N, A), 1 where a paper has an author; case and outer spaces do not matter.

    :param names: (N,) authors of each paper.
    """
    from scipy import sparse

    flat = np.array([name.strip().lower() for each in names for name in each], dtype=str)
    distinct, column = np.unique(flat, return_inverse=True)
    paper = row_numbers(np.array([len(each) for each in names], dtype=np.int64))
    known = np.flatnonzero(flat != "")
    shape = len(names), max(len(distinct), 1)
    ones = np.ones(len(known), dtype=np.int32)
    return sparse.csr_array((ones, (paper[known], column[known])), shape)


def shares_author(
    authors: "sparse.csr_array", citing_rows: np.ndarray, ranked_rows: np.ndarray
) -> np.ndarray:
    """Return (Q, K), whether a ranked paper has an author of the citing paper.

    :param authors: (N, A) of :func:`author_matrix`.
    :param citing_rows: (Q,) rows of the citing papers.
    :param ranked_rows: (Q, K) rows of the ranked papers, best first; -1 for none.
    """
    found = np.zeros(ranked_rows.shape, dtype=bool)
    query, rank = np.nonzero(ranked_rows >= 0)
    for start in range(0, len(query), _BLOCK):
        q, r = query[start : start + _BLOCK], rank[start : start + _BLOCK]
        shared = authors[citing_rows[q]].multiply(authors[ranked_rows[q, r]]).tocsr()
        found[q, r] = np.diff(shared.indptr) > 0
    return found


def self_citation(shared: np.ndarray, cutoffs: Sequence[int]) -> SelfCitation:
    """Return the ranks of papers that share an author, as means over queries.

    :param shared: (Q, K) of :func:`shares_author`; what is ranked beyond K shares none.
    :param cutoffs: (C,) each 1 or more.
    :raises ValueError: there is no query, or a cutoff is below 1.
    """
    ks = np.asarray(cutoffs, dtype=np.int64)
    if not len(shared) or (ks < 1).any():
        raise ValueError(
            f"found {len(shared)} queries and cutoffs {ks.tolist()}; expected a query and cutoffs "
            f"of 1 or more"
        )
    num_ranked = shared.shape[1]
    ranks = np.arange(1, num_ranked + 1)
    none = np.zeros((len(shared), 1), dtype=np.int64)
    counts = np.hstack([none, np.cumsum(shared, axis=1)])[:, np.minimum(ks, num_ranked)]  # (Q, C)
    sums = np.hstack([none, np.cumsum(shared * ranks, axis=1)])[:, np.minimum(ks, num_ranked)]
    first = np.where(shared, ranks, num_ranked + 1).min(axis=1, initial=num_ranked + 1)[:, None]
    has = counts > 0
    mean = np.where(has, sums / np.maximum(counts, 1), ks + 1)
    best = np.where(has, first, ks + 1)
    return SelfCitation(ks, mean.mean(axis=0), best.mean(axis=0), has.mean(axis=0))
