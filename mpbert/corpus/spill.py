"""Papers on disk until a corpus store is written: memory holds a part of them.

A paper is written as it comes, and read back when it is asked for; it is not mapped, so that memory
does not grow with the corpus.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.paper_bytes import bytes_of, paper_of
from mpbert.corpus.published import TEXTS, Publication
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.growing_arrays import Numbers

_IDS_OF_A_CHUNK = 4096
PUBLISHED = pa.struct([(name, pa.string()) for name in TEXTS] + [("id_is_key", pa.bool_())])
"""Type of a column of tables; null where a table was made without."""


class StoredPapers(Sequence[CleanPaper]):
    """Papers in a file. Fill it, then :meth:`sort` it: the place of a paper is then its row.

    Where papers begin is in a file of its own. In memory are ids, splits and the order: about 60
    bytes a paper and twice its id while they are sorted.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b")
        self._places = Numbers(np.int64)  # where each paper begins, and the last one ends
        self._places.extend([0])
        self._ids: list[str] = []
        self._chunks: list[pa.Array] = []
        self._years, self._splits = Numbers(np.int32), list[str | None]()
        self._order = np.zeros(0, dtype=np.int64)

    def add(self, paper: CleanPaper) -> None:
        """Write a paper."""
        self._file.write(bytes_of(paper))
        self._places.extend([self._file.tell()])
        self._years.extend([paper.year])
        self._splits.append(paper.split)
        self._ids.append(paper.paper_id)
        if len(self._ids) == _IDS_OF_A_CHUNK:
            self._end_chunk()

    def _end_chunk(self) -> None:
        self._chunks.append(pa.array(self._ids, pa.large_string()))
        self._ids = []

    def sort(self) -> None:
        """End writing, and order the papers by id.

        :raises CorpusError: two papers have one id.
        """
        self._file.flush()
        self._end_chunk()
        ids = pa.chunked_array(self._chunks).combine_chunks()
        self._chunks = []
        self._order = pc.sort_indices(ids).to_numpy()
        self.paper_ids = ids.take(pa.array(self._order))
        same = pc.equal(self.paper_ids[1:], self.paper_ids[:-1]).to_numpy(zero_copy_only=False)
        if same.any():
            twice = self.paper_ids[int(np.argmax(same))].as_py()
            raise CorpusError(
                f"paper id {twice!r} occurs twice; expected unique ids, remove one of the two "
                f"papers"
            )
        self.years = self._years.array()[self._order]
        self._starts = self._places.array()

    @property
    def given_splits(self) -> list[str | None]:
        """What the raw corpus says of each paper."""
        return [self._splits[number] for number in self._order.tolist()]

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, row: int) -> CleanPaper:  # type: ignore[override]
        place = int(self._order[row])
        start, end = self._starts[place : place + 2].tolist()
        self._file.seek(start)
        return paper_of(self._file.read(end - start))


@contextmanager
def stored_papers(directory: Path) -> Iterator[StoredPapers]:
    """Open a file in a directory; its name goes with the block, what it holds with the object."""
    path = directory / "papers.jsonl"
    try:
        yield StoredPapers(path)
    finally:
        path.unlink(missing_ok=True)


def column_of_published(all_published: Sequence[Publication]) -> pa.Array:
    """Return (N,) records as a column."""
    kinds = {field.name: field.type for field in PUBLISHED}
    columns = [
        pa.array([getattr(each, name) for each in all_published], kind)
        for name, kind in kinds.items()
    ]
    return pa.StructArray.from_arrays(columns, fields=list(PUBLISHED))


def sort_papers(papers: Iterable[CleanPaper], directory: Path) -> StoredPapers:
    """Return all papers by id: their place is their row, whoever cleaned which.

    :param directory: where papers wait on disk, as large as all of them; no name stays there.
    :raises CorpusError: two papers have one id.
    """
    with stored_papers(directory) as stored:
        for paper in papers:
            stored.add(paper)
        stored.sort()
        return stored
