"""Citation and co-citation counts beside a self-join by pandas, by polars and by DuckDB.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_counts.py [contexts] [joined]``. polars
and DuckDB take all cores; we and pandas take one. Where one is not installed, its row is missing.
Contexts cite 1 to 5 papers, a paper of rank r as often as r^(-2/3); there are a tenth as many
papers as contexts. pandas joins a sample, since the join of 10 million contexts alone has 110
million rows. The ratio is that of the sample, which both count; then we count all.
"""

import importlib.util
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from contest import contest, print_contest, print_row
from scipy.sparse import csr_matrix

from mpbert.corpus.cocitation import citation_counts, cocitation_counts
from mpbert.foundation.ragged import offsets_of, row_numbers

Counts = tuple[np.ndarray, csr_matrix]
# papers and their citations; both papers of pairs and how often they are cited together
Joined = tuple[list[np.ndarray], list[np.ndarray]]


def draw_contexts(num_contexts: int, num_papers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (Q + 1,) offsets and the cited rows, each once in a context."""
    rng = np.random.default_rng(1)
    owner = row_numbers(rng.integers(1, 6, num_contexts))
    drawn = np.unique(owner * num_papers + (num_papers * rng.random(len(owner)) ** 3).astype(int))
    lengths = np.bincount(drawn // num_papers, minlength=num_contexts)
    return offsets_of(lengths), (drawn % num_papers).astype(np.int32)


def count(offsets: np.ndarray, rows: np.ndarray, num_papers: int) -> Counts:
    return citation_counts(rows, num_papers), cocitation_counts(offsets, rows, num_papers)


def self_join(offsets: np.ndarray, rows: np.ndarray) -> Joined:
    cited = pd.DataFrame({"context": row_numbers(np.diff(offsets)).astype(np.int32), "paper": rows})
    pairs = cited.merge(cited, on="context")
    pairs = pairs[pairs["paper_x"] != pairs["paper_y"]]
    counts = pairs.groupby(["paper_x", "paper_y"], sort=False).size()
    citations = cited.groupby("paper").size()
    places = [counts.index.get_level_values(level).to_numpy() for level in (0, 1)]
    return [citations.index.to_numpy(), citations.to_numpy()], [*places, counts.to_numpy()]


def polars_join(offsets: np.ndarray, rows: np.ndarray) -> Joined:
    import polars as pl

    context = row_numbers(np.diff(offsets)).astype(np.int32)
    cited = pl.LazyFrame({"context": context, "paper": rows})
    pairs = cited.join(cited, on="context").filter(pl.col("paper") != pl.col("paper_right"))
    counts = pairs.group_by("paper", "paper_right").len()
    found = [each.collect() for each in (cited.group_by("paper").len(), counts)]
    return tuple([column.to_numpy() for column in each.get_columns()] for each in found)


def duckdb_join(offsets: np.ndarray, rows: np.ndarray) -> Joined:
    import duckdb

    context = row_numbers(np.diff(offsets)).astype(np.int32)
    connection = duckdb.connect()
    connection.register("cited", {"context": context, "paper": rows})
    found = [
        "SELECT paper, count(*) FROM cited GROUP BY ALL",
        "SELECT a.paper, b.paper, count(*) FROM cited a JOIN cited b USING (context) "
        "WHERE a.paper <> b.paper GROUP BY ALL",
    ]
    return tuple(list(connection.sql(each).fetchnumpy().values()) for each in found)


def check(ours: Counts, theirs: Joined) -> None:
    """Both counted the same."""
    (papers, citations), (first, second, together) = theirs
    assert np.array_equal(ours[0][papers], citations)
    joined = csr_matrix((together, (first, second)), shape=ours[1].shape)
    assert abs(joined - ours[1]).nnz == 0


def beside_joins(num_contexts: int) -> None:
    num_papers = num_contexts // 10
    few = draw_contexts(num_contexts, num_papers)
    joins: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], Joined]]] = {
        "pandas": (">= 10", self_join),
        "polars": (">= 2", polars_join),
        "duckdb": (">= 2", duckdb_join),
    }
    joins = {name: join for name, join in joins.items() if importlib.util.find_spec(name)}
    contestants = {name: lambda join=join: join(*few) for name, (_, join) in joins.items()}
    costs = contest({"ours": lambda: count(*few, num_papers), **contestants}, rounds=5)
    for name, (goal, _) in joins.items():
        check(costs["ours"].result, costs[name].result)
        what = f"counts of {num_contexts:,} contexts"
        print_contest(what, f"{name} self-join", goal, costs["ours"], costs[name])


def alone(num_contexts: int) -> None:
    num_papers = num_contexts // 10
    many = draw_contexts(num_contexts, num_papers)
    cost = contest({"ours": lambda: count(*many, num_papers)}, rounds=3, warm_up=False)["ours"]
    what = f"counts of {num_contexts:,} contexts"
    print_row(what, "-", "< 4096 MiB", "-", f"{cost.seconds:.3g} s", "-", f"{cost.peak_mib:,.0f}")


def main(num_contexts: int = 10_000_000, num_joined: int = 1_000_000) -> None:
    beside_joins(num_joined)
    alone(num_contexts)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
