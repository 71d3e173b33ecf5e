"""Lists to learn from: the first papers of each query, and the cited ones that these lack."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from mpbert.corpus.parts import COMMAND
from mpbert.corpus.store import Queries
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import check_format
from mpbert.foundation.ragged import offsets_of, row_numbers

_BLOCK = 256  # queries at once: all papers of the corpus are ranked for them


def search_with_cited(
    search: Callable[[Queries, str, int], tuple[np.ndarray, np.ndarray]],
    queries: Queries,
    split: str,
    k: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first k papers of each query, then the cited ones that these lack.

    A cited paper that is no candidate is not among them. All scores are those of the search.

    :param search: gives the lists of queries of a split, as this function does.
    :returns: (Q, K) rows, -1 beyond the end of a list, and (Q, K) scores, -inf there.
    """
    num_papers = int(np.iinfo(np.int32).max)  # all that are candidates
    parts = []
    for start in range(0, len(queries), _BLOCK):
        block = queries.take(np.arange(start, min(start + _BLOCK, len(queries))))
        rows, scores = search(block, split, num_papers)
        kept = _is_cited(block, rows)
        kept[:, :k] = True
        parts.append(_kept(rows, scores, kept & (rows >= 0)))
    return stacked(parts) if parts else search(queries, split, k)


def stacked(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return lists of queries, (Q, K) rows and scores, one part below the other.

    Shorter lists are filled up, with the row -1 and the score -inf.
    """
    width = max(rows.shape[1] for rows, _ in parts)
    beyond = [[(0, 0), (0, width - rows.shape[1])] for rows, _ in parts]
    return (
        np.concatenate(
            [np.pad(r, pad, constant_values=-1) for (r, _), pad in zip(parts, beyond, strict=True)]
        ),
        np.concatenate(
            [
                np.pad(s, pad, constant_values=-np.inf)
                for (_, s), pad in zip(parts, beyond, strict=True)
            ]
        ),
    )


def check_held_out(corpus: Path) -> None:
    """Refuse to read what is cited, unless the queries are held-out training queries.

    :raises ConfigError: the corpus is not one of hold-out.
    """
    if check_format(corpus).get("command") != COMMAND:
        raise ConfigError(
            f"--add-cited: {corpus} is no part of hold-out, so its lists are measured and may not "
            f"know what is cited; expected a corpus of mpbert hold-out, or leave --add-cited out"
        )


def _is_cited(queries: Queries, rows: np.ndarray) -> np.ndarray:
    """Return (Q, K) whether the query cites the paper."""
    most = int(rows.max(initial=0)) + 1
    cited = row_numbers(np.diff(queries.cited_offsets)) * most + queries.cited_rows
    known = cited[queries.cited_rows < most]
    return np.isin(np.arange(len(rows))[:, None] * most + rows, known) & (rows >= 0)


def _kept(rows: np.ndarray, scores: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lists without the papers that are not kept; the order stays."""
    counts = kept.sum(axis=1)
    shape = len(rows), int(counts.max(initial=0))
    query, _ = np.nonzero(kept)
    places = query, np.arange(len(query)) - offsets_of(counts)[query]
    found, values = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf)
    found[places], values[places] = rows[kept], scores[kept]
    return found, values
