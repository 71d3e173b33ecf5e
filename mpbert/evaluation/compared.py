"""What is said of runs side by side, and by which measures unless others are asked for."""

import math
from dataclasses import dataclass

MEASURES = ("Recall@10", "MAP@10", "MRR@10", "nDCG@10")
CLUSTERS = ("paper", "query")


@dataclass(frozen=True)
class ComparedScore:
    """One measure of one run on one subset of the queries; NaN: not to be had.

    :param subset: ``P=1``, ``P>=1`` (all queries) or ``P>=2``, by the papers that a query cites.
    :param queries: number of queries of the subset; ``missing`` of them are not in the run and
        count 0.
    :param mean: over the queries, from 0 to 1.
    :param low: and ``high``, ends of its 95 % interval, by bootstrap over clusters.
    :param other: the best other run; empty where there is none.
    :param difference: the mean minus that of the other run, with ``difference_low`` and
        ``difference_high``, the ends of its 95 % interval.
    :param p_randomization: and ``p_t_test``, of this difference, corrected by Holm over all
        comparisons.
    """

    run: str
    measure: str
    subset: str
    queries: int
    missing: int
    mean: float
    low: float = math.nan
    high: float = math.nan
    other: str = ""
    difference: float = math.nan
    difference_low: float = math.nan
    difference_high: float = math.nan
    p_randomization: float = math.nan
    p_t_test: float = math.nan
