"""Each row minus the strongest lexical row: the one with the largest mean of a column.

The strongest one is found among the very queries that are measured, which favours it.
"""

from collections.abc import Sequence

import numpy as np

from mpbert.evaluation.report import LEXICAL_ROW, MAIN, MeasuredRow, Setting
from mpbert.evaluation.subsets import Subset
from mpbert.evaluation.tables import Column, Resampling, Table, build_table
from mpbert.foundation.seeding import named_rng

_MEASURES = {"local": MAIN, "global": ("MRR", *MAIN)}
_SUBSETS = {"local": ("P>=1", "P>=2"), "global": ("P>=1",)}


def build_against_lexical(
    setting: Setting,
    subsets: Sequence[Subset],
    families: Sequence[str],
    hits: Sequence[Sequence[np.ndarray]],
    num_gold: np.ndarray,
    resampling: Resampling,
) -> Table | None:
    """Compare all rows with the strongest lexical row; None where there is no lexical row.

    :param subsets: by the number of papers that a query cites; those without queries are left out.
    :param families: of the rows.
    :param hits: for each row and each of its seeds (Q, K), whether the paper at each rank is
        relevant.
    :param num_gold: (Q,) number of relevant papers.
    """
    is_lexical = np.array([family == LEXICAL_ROW for family in families])
    if not is_lexical.any():
        return None
    wanted = [s for s in subsets if s.name in _SUBSETS[setting.task] and len(s)]
    return build_table(
        "against_lexical",
        "Each row minus the strongest lexical row",
        [Column(measure, subset) for subset in wanted for measure in _MEASURES[setting.task]],
        hits,
        num_gold,
        resampling,
        named_rng(setting.seed, "report table against_lexical"),
        compared_with=lambda means: _strongest(means, is_lexical),
    )


def strongest_rows(table: Table) -> list[int]:
    """Return (J,) the row that all others are compared with in each column."""
    return np.argmax(table.others < 0, axis=0).tolist()


def sentence_of(table: Table, rows: Sequence[MeasuredRow]) -> str:
    """Return the sentence of the caption: which row is the strongest, and how it is tested."""
    columns: dict[str, list[str]] = {}
    for r, column in zip(strongest_rows(table), table.columns, strict=True):
        name = f"{column.measure} {column.subset.title}"
        columns.setdefault(rows[r].full_title, []).append(name)
    named = "; ".join(f"{title} ({', '.join(names)})" for title, names in columns.items())
    return (
        f"The strongest lexical row has the largest mean of a column on these very queries: "
        f"{named}. Differences from it have intervals and tests of the same kind. Holm's "
        f"correction covers the {table.num_comparisons} comparisons of these tables."
    )


def _strongest(means: np.ndarray, is_lexical: np.ndarray) -> np.ndarray:
    """Return (R, J) the strongest lexical row, -1 for itself."""
    best = np.argmax(np.where(is_lexical[:, None], means, -1.0), axis=0)  # (J,)
    others = np.repeat(best[None], len(means), axis=0)
    others[best, np.arange(means.shape[1])] = -1
    return others
