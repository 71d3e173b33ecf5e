"""Where papers appeared, as a column of texts of an index: a list for each paper.

Behind as many texts for each paper stand the ids of its copies, then its labels. A label begins
with a space, as no id does.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from mpbert.corpus.published import TEXTS, Publication
from mpbert.foundation.ragged import ranges, row_numbers
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
    return {text: row for row, text in _behind(published, are_labels=False)}


def rows_of_labels(published: ListColumn) -> dict[str, list[int]]:
    """Return the rows of the papers that have each label, by the label in small letters."""
    rows: dict[str, list[int]] = {}
    for row, text in _behind(published, are_labels=True):
        rows.setdefault(text[1:].casefold(), []).append(row)
    return rows


def _behind(published: ListColumn, are_labels: bool) -> Iterator[tuple[int, str]]:
    """Yield (row, text) of the labels, or the ids, behind the texts that each paper has."""
    counts, values = np.diff(published.offsets) - NUM_PUBLISHED, published.values
    places = ranges(published.offsets[:-1] + NUM_PUBLISHED, counts)
    is_label = values.letters[:][values.offsets[places]] == ord(" ")
    asked = np.flatnonzero(is_label == are_labels)
    rows = row_numbers(counts)[asked].tolist()
    return zip(rows, map(values.__getitem__, places[asked].tolist()), strict=True)
