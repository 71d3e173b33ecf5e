"""Tables of an index as older formats hold them, brought to the columns of today."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from mpbert.recommending.index_files import read_table
from mpbert.recommending.tables import CONTEXTS, PAPERS

# the first formats whose contexts hold the sentences around them, and papers where they appeared
_WITH_NEIGHBOURS, _WITH_PUBLISHED = 5, 6
_PUBLISHED = [PAPERS.field(name) for name in ("key", "published")]
_WITHOUT_NEIGHBOURS = CONTEXTS.remove(CONTEXTS.get_field_index("around"))
_WITHOUT_PUBLISHED = pa.schema([field for field in PAPERS if field not in _PUBLISHED])


def read_papers_and_contexts(folder: Path, made_as: int) -> tuple[pa.Table, pa.Table]:
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


def _with_published(papers: pa.Table) -> pa.Table:
    """Return papers of which nobody knows where they appeared; each is cited by its id."""
    for field in _PUBLISHED:
        papers = papers.append_column(field, pa.nulls(papers.num_rows, field.type))
    return papers


def _with_neighbours(contexts: pa.Table) -> pa.Table:
    """Return contexts without the sentences around them."""
    # from buffers: where pandas is installed, a scalar or a list of Python would import it
    offsets = pa.py_buffer(np.zeros(contexts.num_rows + 1, dtype=np.int64))
    buffers = [None, offsets, pa.py_buffer(b"")]
    nothing = pa.Array.from_buffers(pa.large_string(), contexts.num_rows, buffers)
    place = CONTEXTS.get_field_index("around")
    return contexts.add_column(place, CONTEXTS.field(place), nothing)
