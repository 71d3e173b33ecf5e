"""Where papers appeared, as a column of Arrow: in a corpus store, and beside parts of a build."""

from collections.abc import Sequence

import pyarrow as pa

from mpbert.corpus.published import TEXTS, Publication

PUBLISHED = pa.struct([(name, pa.string()) for name in TEXTS] + [("id_is_key", pa.bool_())])
"""Type of a column of tables; null where a table was made without."""


def column_of_published(all_published: Sequence[Publication]) -> pa.Array:
    """Return (N,) records as a column."""
    kinds = {field.name: field.type for field in PUBLISHED}
    columns = [
        pa.array([getattr(each, name) for each in all_published], kind)
        for name, kind in kinds.items()
    ]
    return pa.StructArray.from_arrays(columns, fields=list(PUBLISHED))
