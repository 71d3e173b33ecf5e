"""Where papers appeared, as a column of texts of an index: a list for each paper.

Behind as many texts for each paper stand the ids of its copies, then its labels. A label begins
with a space, as no id does.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from mpbert.corpus.published import TEXTS, Publication
from mpbert.recommending.columns import ListColumn

NUM_PUBLISHED = len(TEXTS) + 1  # texts of a list, at least
DOI = TEXTS.index("doi")  # its place


def published_texts(published: Publication) -> list[str]:
    """Return a value of the column."""
    texts = [getattr(published, name) for name in TEXTS]
    labels = (f" {label}" for label in published.labels)
    return [*texts, "key" if published.id_is_key else "", *published.other_ids, *labels]


def published_of(texts: Sequence[str]) -> Publication:
    """Return what a value of the column says."""
    *known, is_key = texts[:NUM_PUBLISHED]
    ids = tuple(text for text in texts[NUM_PUBLISHED:] if not text.startswith(" "))
    labels = tuple(text[1:] for text in texts[NUM_PUBLISHED + len(ids) :])
    return Publication(*known, id_is_key=bool(is_key), other_ids=ids, labels=labels)


def doi_at(published: ListColumn, row: int) -> str:
    """Return the DOI of a row of the column; empty where there is none."""
    return published.values[int(published.offsets[row]) + DOI]


def rows_of_other_ids(published: ListColumn) -> dict[str, int]:
    """Return the row of each paper by the ids of its copies."""
    return {text: row for row, text in _behind(published) if not text.startswith(" ")}


def rows_of_labels(published: ListColumn) -> dict[str, list[int]]:
    """Return the rows of the papers that have each label, by the label in small letters."""
    rows: dict[str, list[int]] = {}
    for row, text in _behind(published):
        if text.startswith(" "):
            rows.setdefault(text[1:].casefold(), []).append(row)
    return rows


def _behind(published: ListColumn) -> Iterator[tuple[int, str]]:
    """Yield (row, text) of what stands behind the texts that each paper has."""
    more = np.flatnonzero(np.diff(published.offsets) > NUM_PUBLISHED).tolist()
    return ((row, text) for row in more for text in published[row][NUM_PUBLISHED:])
