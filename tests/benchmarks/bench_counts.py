"""Citation and co-citation counts beside a self-join by pandas.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_counts.py [contexts] [joined]``.
Contexts cite 1 to 5 papers, a paper of rank r as often as r^(-2/3); there are a tenth as many
papers as contexts. pandas joins a sample, since the join of 10 million contexts alone has 110
million rows. The ratio is that of the sample, which both count; then we count all.
"""

import sys

import numpy as np
import pandas as pd
from contest import contest, print_contest, print_row
from scipy.sparse import csr_matrix

from mpbert.corpus.cocitation import citation_counts, cocitation_counts
from mpbert.foundation.ragged import offsets_of, row_numbers

Counts = tuple[np.ndarray, csr_matrix]


def draw_contexts(num_contexts: int, num_papers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (Q + 1,) offsets and the cited rows, each once in a context."""
    rng = np.random.default_rng(1)
    owner = row_numbers(rng.integers(1, 6, num_contexts))
    drawn = np.unique(owner * num_papers + (num_papers * rng.random(len(owner)) ** 3).astype(int))
    lengths = np.bincount(drawn // num_papers, minlength=num_contexts)
    return offsets_of(lengths), (drawn % num_papers).astype(np.int32)


def count(offsets: np.ndarray, rows: np.ndarray, num_papers: int) -> Counts:
    return citation_counts(rows, num_papers), cocitation_counts(offsets, rows, num_papers)


def self_join(offsets: np.ndarray, rows: np.ndarray) -> tuple[pd.Series, pd.Series]:
    cited = pd.DataFrame({"context": row_numbers(np.diff(offsets)).astype(np.int32), "paper": rows})
    pairs = cited.merge(cited, on="context")
    pairs = pairs[pairs["paper_x"] != pairs["paper_y"]]
    counts = pairs.groupby(["paper_x", "paper_y"], sort=False).size()
    return cited.groupby("paper").size(), counts


def check(ours: Counts, theirs: tuple[pd.Series, pd.Series]) -> None:
    """Both counted the same."""
    citations, pairs = theirs
    assert np.array_equal(ours[0][citations.index], citations)
    places = [pairs.index.get_level_values(level) for level in (0, 1)]
    joined = csr_matrix((pairs.to_numpy(), places), shape=ours[1].shape)
    assert abs(joined - ours[1]).nnz == 0


def beside_pandas(num_contexts: int) -> None:
    num_papers = num_contexts // 10
    few = draw_contexts(num_contexts, num_papers)
    contestants = {"ours": lambda: count(*few, num_papers), "join": lambda: self_join(*few)}
    costs = contest(contestants, rounds=3, warm_up=False)
    check(costs["ours"].result, costs["join"].result)
    what = f"counts of {num_contexts:,} contexts"
    print_contest(what, "pandas self-join", ">= 10", costs["ours"], costs["join"])


def alone(num_contexts: int) -> None:
    num_papers = num_contexts // 10
    many = draw_contexts(num_contexts, num_papers)
    cost = contest({"ours": lambda: count(*many, num_papers)}, rounds=3, warm_up=False)["ours"]
    what = f"counts of {num_contexts:,} contexts"
    print_row(what, "-", "< 4096 MiB", "-", f"{cost.seconds:.3g} s", "-", f"{cost.peak_mib:,.0f}")


def main(num_contexts: int = 10_000_000, num_joined: int = 1_000_000) -> None:
    beside_pandas(num_joined)
    alone(num_contexts)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
