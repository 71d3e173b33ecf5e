"""Parts of a corpus: the papers of each author, which overlap, and the papers of each venue."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import offsets_of, row_numbers

if TYPE_CHECKING:  # --help loads this module, and waits for all that it imports
    from scipy import sparse

PARTS = ("authors", "venue")


@dataclass(frozen=True)
class Parts:
    """The parts that each paper is in: paper ``r`` is in ``ids[offsets[r]:offsets[r + 1]]``.

    :param offsets: (N + 1,).
    :param ids: numbers of parts, from 0, each once for a paper.
    :param num_parts: M.
    """

    offsets: np.ndarray
    ids: np.ndarray
    num_parts: int

    def matrix(self) -> "sparse.csr_array":
        """Return (N, M), 1 where a paper is in a part."""
        from scipy import sparse

        shape = len(self.offsets) - 1, self.num_parts
        return sparse.csr_array((np.ones(len(self.ids)), self.ids, self.offsets), shape=shape)


def read_parts(store: CorpusStore, of: str) -> Parts:
    """Return the parts of a corpus, by names as :func:`comparable` has them.

    :param of: ``authors`` or ``venue``.
    """
    column = pq.read_table(store.path / "papers.parquet", columns=[of])[of]
    if of == "authors":
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
        names = pc.list_flatten(column).combine_chunks()
    else:
        lengths, names = np.ones(len(column), dtype=np.int64), column.combine_chunks()
    found = [comparable(name or "") for name in names.to_pylist()]
    named = np.array([bool(name) for name in found], dtype=bool)
    encoded = pa.array(filter(None, found), pa.string()).dictionary_encode()
    num_parts = max(len(encoded.dictionary), 1)
    rows = row_numbers(lengths)[named]
    keys = np.unique(rows * num_parts + encoded.indices.to_numpy())
    counts = np.bincount(keys // num_parts, minlength=len(column))
    return Parts(offsets_of(counts), keys % num_parts, len(encoded.dictionary))


def comparable(name: str) -> str:
    """Return a name as it is compared: case and outer spaces do not matter; empty for no name."""
    return name.strip().lower()
