"""Where papers appeared, as a column of texts of an index: a list for each paper.

Behind as many texts for each paper stand the ids of its copies.
"""

from collections.abc import Sequence

import numpy as np

from mpbert.corpus.published import TEXTS, Publication
from mpbert.recommending.columns import ListColumn

NUM_PUBLISHED = len(TEXTS) + 1  # texts of a list, at least
_DOI = TEXTS.index("doi")


def published_texts(published: Publication) -> list[str]:
    """Return a value of the column."""
    texts = [getattr(published, name) for name in TEXTS]
    return [*texts, "key" if published.id_is_key else "", *published.other_ids]


def published_of(texts: Sequence[str]) -> Publication:
    """Return what a value of the column says."""
    *known, is_key = texts[:NUM_PUBLISHED]
    return Publication(*known, id_is_key=bool(is_key), other_ids=tuple(texts[NUM_PUBLISHED:]))


def doi_at(published: ListColumn, row: int) -> str:
    """Return the DOI of a row of the column; empty where there is none."""
    return published.values[int(published.offsets[row]) + _DOI]


def rows_of_other_ids(published: ListColumn) -> dict[str, int]:
    """Return the row of each paper by the ids of its copies."""
    more = np.flatnonzero(np.diff(published.offsets) > NUM_PUBLISHED).tolist()
    return {other: row for row in more for other in published[row][NUM_PUBLISHED:]}
