"""Drawing positives and negatives of a million contexts beside a loop over numpy.random.choice.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_sampling.py [contexts] [looped]``. Each
context gets one positive (Eq. 1) and four negatives (Eq. 2) among 20,000 papers, as many as ACL
has. The loop draws for a sample of the contexts, the ratio is one of draws per second: a million
would take it the better part of an hour.
"""

import itertools
import sys

import numpy as np
from contest import Cost, contest, print_contest
from scipy.sparse import csr_matrix

from mpbert.corpus.binary import BinaryContexts
from mpbert.corpus.cocitation import citation_counts
from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.model.config import NoiseConfig
from mpbert.model.noise import NegativeDistribution, Noise

NUM_PAPERS, NEGATIVES, POWER = 20_000, 4, 0.75


def draw_contexts(num_contexts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (Q + 1,) offsets and cited rows of contexts that cite 2 to 5 papers, each once."""
    rng = np.random.default_rng(1)
    owner = row_numbers(rng.integers(2, 6, num_contexts))
    drawn = owner * NUM_PAPERS + (NUM_PAPERS * rng.random(len(owner)) ** 3).astype(int)
    drawn = np.unique(drawn)
    lengths = np.bincount(drawn // NUM_PAPERS, minlength=num_contexts)
    return offsets_of(lengths), drawn % NUM_PAPERS


def draw(
    offsets: np.ndarray, rows: np.ndarray, noise: Noise, negatives: NegativeDistribution
) -> tuple[np.ndarray, np.ndarray]:
    items, targets = np.arange(len(offsets) - 1), rows[offsets[:-1]]
    citing = np.full(len(items), NUM_PAPERS)  # a manuscript outside
    positives = noise.positives(targets, citing, items, offsets, rows, 1, 0)
    return positives, negatives.sample(items, offsets, rows, NEGATIVES, 1, 0)


def loop(
    offsets: np.ndarray, rows: np.ndarray, counts: csr_matrix, probabilities: np.ndarray
) -> list[tuple[int, list[int]]]:
    drawn = []
    for start, end in itertools.pairwise(offsets):
        target, others = rows[start], rows[start + 1 : end]
        positive = -1
        if len(others):
            frequencies = np.array([max(counts[target, other], 1) for other in others]) ** POWER
            positive = np.random.choice(others, p=frequencies / frequencies.sum())
        negatives: list[int] = []
        cited = set(rows[start:end].tolist())
        while len(negatives) < NEGATIVES:
            missing = NEGATIVES - len(negatives)
            found = np.random.choice(NUM_PAPERS, size=missing, p=probabilities)
            negatives += [row for row in found.tolist() if row not in cited]
        drawn.append((positive, negatives))
    return drawn


def main(num_contexts: int = 1_000_000, num_looped: int = 2_000) -> None:
    offsets, rows = draw_contexts(num_contexts)
    num_read = len(offsets) - 1
    contexts = BinaryContexts(
        *(np.full(num_read, NUM_PAPERS), np.arange(num_read), offsets, rows),
        np.zeros(num_read, dtype=bool),
    )
    noise = Noise(contexts, NUM_PAPERS, NoiseConfig(positives=1, positive_power=POWER))
    cited = citation_counts(rows, NUM_PAPERS)
    probabilities = cited**POWER / (cited**POWER).sum()
    few = offsets[: num_looped + 1], rows[: offsets[num_looped]]
    costs = contest(
        {
            "ours": lambda: draw(offsets, rows, noise, NegativeDistribution(cited, POWER)),
            "loop": lambda: loop(*few, noise.cocitations, probabilities),
        }
    )
    factor = num_contexts / num_looped
    theirs = costs["loop"]
    scaled = Cost(theirs.seconds * factor, theirs.peak_mib, None, theirs.computed * factor)
    what = f"{num_contexts:,} positives, {NEGATIVES * num_contexts:,} negatives"
    against = f"numpy.random.choice, {num_looped:,} contexts, scaled"
    print_contest(what, against, ">= 100", costs["ours"], scaled)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
