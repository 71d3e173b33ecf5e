"""Tables of papers in their own shape: our rows beside the printed numbers, with the same test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mpbert.evaluation.measures import measure
from mpbert.evaluation.seeds import too_few_seeds
from mpbert.evaluation.significance import (
    cluster_sums,
    holm,
    randomization_p_values,
    t_test_p_values,
)
from mpbert.evaluation.tables import Column, Resampling


@dataclass(frozen=True)
class PaperRow:
    """A row of a paper's table.

    :param title: as the paper has it.
    :param row: ours.
    :param printed: of each column, in %; NaN: the paper prints none.
    :param note: what is wrong with the printed numbers; empty: nothing.
    :param is_baseline: whether the paper's own rows are tested against it.
    """

    title: str
    row: str
    printed: tuple[float, ...]
    note: str = ""
    is_baseline: bool = False


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper.

    :param paper: and ``title``, such as ``Table 3, ACL``.
    :param corpora: ours that stand for its corpus.
    :param columns: (measure, name of the subset).
    :param rows: in the order of the paper; the baselines first.
    :param notes: what a reader should know of the whole table.
    """

    name: str
    paper: str
    title: str
    corpora: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[PaperRow, ...]
    notes: tuple[str, ...] = field(default_factory=tuple)


@dataclass(frozen=True)
class MeasuredPaperTable:
    """A paper's table with our numbers; arrays are (R, J), by row and column. NaN: none.

    :param columns: (J,) ours.
    :param seeds: (R,) seeds of each row; 0: not run.
    :param few_seeds: (R,) the words on a trained row of too few seeds; empty for the others.
    :param means: from 0 to 1, over queries and seeds.
    :param baselines: (J,) the row of the best baseline; -1 where none was run.
    :param p_t_test: of each row that is no baseline against the best one: paired, over queries,
        not corrected, as the paper has it.
    :param p_randomization: of the same, by exchange of citing papers, after Holm's correction.
    """

    table: PaperTable
    columns: Sequence[Column]
    seeds: np.ndarray
    few_seeds: Sequence[str]
    means: np.ndarray
    baselines: np.ndarray
    p_t_test: np.ndarray
    p_randomization: np.ndarray


def measure_paper_table(
    table: PaperTable,
    columns: Sequence[Column],
    hits: Mapping[str, Sequence[np.ndarray]],
    trained: frozenset[str],
    num_gold: np.ndarray,
    resampling: Resampling,
    rng: np.random.Generator,
) -> MeasuredPaperTable:
    """Measure our rows in the shape of a paper's table.

    :param columns: those that the table names.
    :param hits: of each row that was run, for each seed (Q, K) whether the paper at each rank is
        relevant.
    :param trained: rows that need several seeds.
    :param num_gold: (Q,) number of relevant papers.
    """
    values = np.array([_values(columns, hits.get(r.row, ()), num_gold) for r in table.rows])
    masks = np.array([column.subset.mask for column in columns])  # (J, Q)
    run = np.array([row.row in hits for row in table.rows])
    is_baseline = np.array([row.is_baseline for row in table.rows])
    data = cluster_sums(values, masks, resampling.clusters)
    means = np.where(run[:, None], data.means, np.nan)
    baselines = _best(means, run & is_baseline)
    tested = (run & ~is_baseline)[:, None] & (baselines >= 0)
    others = np.where(tested, baselines, -1)
    exchange = randomization_p_values(data, others, resampling.num_samples, rng)
    seeds = np.array([len(hits.get(row.row, ())) for row in table.rows])
    few = [
        too_few_seeds(n) if row.row in trained else ""
        for row, n in zip(table.rows, seeds, strict=True)
    ]
    return MeasuredPaperTable(
        table,
        columns,
        seeds,
        few,
        means,
        baselines,
        t_test_p_values(values, masks, others),
        holm(exchange),
    )


def _best(means: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return (J,) the row of the largest mean among some; -1 where there is none."""
    known = np.where(among[:, None] & ~np.isnan(means), means, -1.0)
    return np.where(known.max(axis=0) < 0, -1, known.argmax(axis=0))


def _values(
    columns: Sequence[Column], seeds: Sequence[np.ndarray], num_gold: np.ndarray
) -> np.ndarray:
    """Return (J, Q) means over seeds of each measure; 0 for a row that was not run."""
    found = np.zeros((len(columns), len(num_gold)))
    for j, column in enumerate(columns if seeds else ()):
        found[j] = np.mean([measure(column.measure, h, num_gold) for h in seeds], axis=0)
    return found
