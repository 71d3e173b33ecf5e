"""How sure a system was of its answers, beside its run: ``SPLIT.confidence.tsv``.

A line of each query: P(the first paper is cited), P(the library holds what belongs here), and the
latter without the cited papers.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mpbert.foundation.errors import RunError

_NAMES = ("first", "holds", "holds_without")


def confidence_file(run: Path) -> Path:
    """Return the file beside a run."""
    return run.with_suffix(".confidence.tsv")


def write_confidence(run: Path, query_ids: Sequence[str], values: np.ndarray) -> None:
    """Write the file beside a run.

    :param values: (Q, 3) from 0 to 1; NaN where nothing was ranked.
    """
    lines = ["\t".join(("query", *_NAMES))]
    rows = zip(query_ids, np.nan_to_num(values).tolist(), strict=True)
    lines += ["\t".join((query, *(f"{value:.4f}" for value in row))) for query, row in rows]
    confidence_file(run).write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_confidence_file(run: Path, query_ids: Sequence[str]) -> np.ndarray | None:
    """Return (Q, 3) of queries; None where there is no file beside the run.

    :raises RunError: the file is damaged, or lacks a query.
    """
    path = confidence_file(run)
    if not path.is_file():
        return None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
        found = dict(line.split("\t", 1) for line in lines)
        rows = [list(map(float, found[query].split("\t"))) for query in query_ids]
        values = np.array(rows).reshape(len(query_ids), len(_NAMES))
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError("a value beyond 0 and 1")
    except (OSError, ValueError, LookupError) as error:
        raise RunError(
            f"{path}: unreadable ({type(error).__name__}: {error}); expected a line 'query "
            f"{' '.join(_NAMES)}' of each query, from 0 to 1: run mpbert answer again"
        ) from error
    return values
