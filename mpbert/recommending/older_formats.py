"""Tables of an index as older formats hold them, brought to the columns of today."""

from pathlib import Path

import numpy as np

from mpbert.corpus.published import Publication
from mpbert.recommending.column_making import column_of
from mpbert.recommending.columns import ColumnTable, RecordColumn, TextColumn
from mpbert.recommending.index_files import read_table
from mpbert.recommending.tables import CONTEXTS, PAPERS

# the first formats whose contexts hold the sentences around them, and papers where they appeared
_WITH_NEIGHBOURS, _WITH_PUBLISHED = 5, 6
_PUBLISHED = ("key", "published")
_WITHOUT_NEIGHBOURS = {name: kind for name, kind in CONTEXTS.items() if name != "around"}
_WITHOUT_PUBLISHED = {name: kind for name, kind in PAPERS.items() if name not in _PUBLISHED}


def read_papers_and_contexts(folder: Path, made_as: int) -> tuple[ColumnTable, ColumnTable]:
    """Return papers, of schema ``PAPERS``, and contexts, of schema ``CONTEXTS``.

    :param folder: of the data of an index of format ``made_as``.
    :raises IndexFormatError: a table is missing or damaged, or has other columns.
    """
    has_published, has_neighbours = made_as >= _WITH_PUBLISHED, made_as >= _WITH_NEIGHBOURS
    papers = read_table(folder / "papers.arrow", PAPERS if has_published else _WITHOUT_PUBLISHED)
    schema = CONTEXTS if has_neighbours else _WITHOUT_NEIGHBOURS
    contexts = read_table(folder / "contexts.arrow", schema)
    return (
        papers if has_published else _with_published(papers),
        contexts if has_neighbours else _with_neighbours(contexts),
    )


def _with_published(papers: ColumnTable) -> ColumnTable:
    """Return papers of which nobody knows where they appeared; each is cited by its id."""
    records = column_of([Publication()] * papers.num_rows, PAPERS["published"])
    nothing = RecordColumn(np.zeros(papers.num_rows, dtype=bool), records.parts)
    return papers.with_columns({"key": TextColumn.empty(papers.num_rows), "published": nothing})


def _with_neighbours(contexts: ColumnTable) -> ColumnTable:
    """Return contexts without the sentences around them."""
    return contexts.with_columns({"around": TextColumn.empty(contexts.num_rows)})
