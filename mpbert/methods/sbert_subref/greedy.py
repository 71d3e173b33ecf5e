"""Lazy greedy selection (Minoux, 1978) for functions whose step values never grow.

What candidate k adds to the chosen ones S, its step value, is here

    v(k | S) = modular_k + diversity · Σ_{P ∋ k} ( √(r(P ∩ S) + r_k) - √r(P ∩ S) ) - penalty(k, S)

with r(A) = Σ_{j ∈ A} r_j and penalty(k, S) = Σ_{j ∈ S} W_kj, or max_{j ∈ S} W_kj. The second term
is the step of F(S) = Σ_P √r(P ∩ S), SBERT + SubRef's Eq. 6 (ICPR 2020), where parts P may overlap.
No term grows with S, since W ≥ 0, so a value computed for a smaller S is a bound: a queue by bounds
needs to look again only at candidates whose bound is above the best value found.
"""

import heapq
from dataclasses import dataclass

import numpy as np
from numba import njit


@dataclass(frozen=True)
class StepValues:
    """What the step values of one query's n candidates are made of.

    :param modular: (n,) float64, what a candidate adds to any S.
    :param relevance: (n,) float64, r, 0 or more.
    :param part_offsets: (n + 1,) int64; candidate k is in the parts
        ``parts[part_offsets[k]:part_offsets[k + 1]]``.
    :param parts: int64, numbers of parts from 0.
    :param diversity: weight of the second term, 0 or more.
    :param penalty: (n, n) float64, W, 0 or more; or (0, 0) for none.
    :param by_maximum: whether the penalty is the maximum over S, not the sum.
    """

    modular: np.ndarray
    relevance: np.ndarray
    part_offsets: np.ndarray
    parts: np.ndarray
    diversity: float
    penalty: np.ndarray
    by_maximum: bool


@dataclass(frozen=True)
class Selection:
    """What was chosen, in this order, with the step values."""

    chosen: np.ndarray
    values: np.ndarray


def lazy_greedy(steps: StepValues, budget: int) -> Selection:
    """Choose the candidate of largest step value, again and again; of equal ones the first.

    It ends when the budget is spent, no candidate is left, or all step values are below 0.
    """
    num_parts = int(steps.parts.max(initial=-1)) + 1
    budget = min(budget, len(steps.modular))
    return Selection(
        *_lazy_greedy(
            steps.modular, steps.relevance, steps.part_offsets, steps.parts, num_parts,
            steps.diversity, steps.penalty, steps.by_maximum, budget,
        )
    )  # fmt: skip


@njit(cache=True)
def _lazy_greedy(
    modular, relevance, part_offsets, parts, num_parts, diversity, penalty, by_maximum, budget
):
    n = len(modular)
    in_parts = np.zeros(num_parts)  # r(P ∩ S)
    paid = np.zeros(n)  # penalty(k, first seen[k] chosen ones)
    seen = np.zeros(n, dtype=np.int64)
    chosen, values = np.empty(budget, dtype=np.int64), np.empty(budget)
    queue = [
        (-modular[k] - diversity * _diversity_step(k, relevance, part_offsets, parts, in_parts), k)
        for k in range(n)
    ]
    heapq.heapify(queue)
    size = 0
    while size < budget:
        negated, k = queue[0]
        if seen[k] == size:  # its value is of this S, and no bound is above it
            if negated > 0:
                break
            heapq.heappop(queue)
            chosen[size], values[size] = k, -negated
            size += 1
            for place in range(part_offsets[k], part_offsets[k + 1]):
                in_parts[parts[place]] += relevance[k]
            continue
        if len(penalty):
            for j in chosen[seen[k] : size]:
                paid[k] = max(paid[k], penalty[k, j]) if by_maximum else paid[k] + penalty[k, j]
        seen[k] = size
        gain = diversity * _diversity_step(k, relevance, part_offsets, parts, in_parts)
        heapq.heapreplace(queue, (paid[k] - modular[k] - gain, k))
    return chosen[:size], values[:size]


@njit(cache=True)
def _diversity_step(k, relevance, part_offsets, parts, in_parts):
    total = 0.0
    for place in range(part_offsets[k], part_offsets[k + 1]):
        before = in_parts[parts[place]]
        total += np.sqrt(before + relevance[k]) - np.sqrt(before)
    return total
