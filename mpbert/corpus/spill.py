"""Papers on disk until a corpus store is written: memory holds a part of them.

A paper is written as it comes: its sentences in Arrow's own form, all else as JSON beside them. It
is read back when it is asked for, and not mapped, so that memory does not grow with the corpus.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.published import TEXTS, Publication
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.growing_arrays import Numbers

_SCHEMA = pa.schema([("text", pa.string()), ("section", pa.int16())])
_IDS_OF_A_CHUNK = 4096
_FIELDS = ("paper_id", "title", "year", "authors", "venue", "num_abstract", "headings", "cited")
PUBLISHED = pa.struct([(name, pa.string()) for name in TEXTS] + [("id_is_key", pa.bool_())])
"""Type of a column of tables; null where a table was made without."""
_PUBLISHED = tuple(field.name for field in PUBLISHED)


def _batch_of(paper: CleanPaper) -> tuple[pa.RecordBatch, dict[str, str]]:
    """Return a paper as Arrow has it: its sentences, and all else as JSON beside them."""
    rest: dict[str, Any] = {name: getattr(paper, name) for name in _FIELDS}
    rest |= {"references": paper.references, "split": paper.split}
    # not by asdict: of each call Python keeps a tuple for later ones, 96 bytes, up to 2,000 of them
    rest["published"] = {name: getattr(paper.published, name) for name in _PUBLISHED}
    batch = pa.record_batch([paper.sentences, pa.array(paper.sections)], schema=_SCHEMA)
    return batch, {"paper": json.dumps(rest)}


def _paper_of(batch: pa.RecordBatch, metadata: Any) -> CleanPaper:
    """Return the paper that :func:`_batch_of` turned into these."""
    rest = json.loads(metadata["paper"])
    rest["cited"] = [(position, ids) for position, ids in rest["cited"]]
    rest["references"] = tuple(rest["references"])
    rest["published"] = Publication(**rest["published"])
    sections = batch.column(1).to_numpy().copy()  # a view would keep the sentences in memory
    return CleanPaper(sentences=batch.column(0), sections=sections, **rest)


def papers_in_bytes(papers: Iterable[CleanPaper]) -> np.ndarray:
    """Return papers as (N,) bytes: an array, as parts of outputs are made of."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        for paper in papers:
            batch, metadata = _batch_of(paper)
            writer.write_batch(batch, custom_metadata=metadata)
    return np.frombuffer(sink.getvalue(), np.uint8)


def papers_from(content: np.ndarray) -> Iterator[CleanPaper]:
    """Yield the papers of :func:`papers_in_bytes`; each keeps all of these bytes in memory."""
    reader = pa.ipc.open_file(pa.py_buffer(content))
    for number in range(reader.num_record_batches):
        yield _paper_of(*reader.get_batch_with_custom_metadata(number))


class StoredPapers(Sequence[CleanPaper]):
    """Papers in a file. Fill it, then :meth:`sort` it: the place of a paper is then its row.

    A paper is a message of Arrow with its sentences, then JSON. Where these begin is in a file of
    its own: that of Arrow, with an index at its end, has 24 bytes a paper in memory, and an index
    of 2 GiB at most. In memory are ids, splits and the order: about 60 bytes a paper and twice
    its id while they are sorted.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b")
        self._places = Numbers(np.int64)  # of the message and of the JSON of each paper, by turns
        self._places.extend([0])
        self._ids: list[str] = []
        self._chunks: list[pa.Array] = []
        self._years, self._splits = Numbers(np.int32), list[str | None]()
        self._order = np.zeros(0, dtype=np.int64)

    def add(self, paper: CleanPaper) -> None:
        """Write a paper."""
        batch, metadata = _batch_of(paper)
        self._file.write(batch.serialize())
        middle = self._file.tell()
        self._file.write(metadata["paper"].encode())
        self._places.extend([middle, self._file.tell()])
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
        place = 2 * int(self._order[row])
        start, middle, end = self._starts[place : place + 3].tolist()
        self._file.seek(start)
        content = self._file.read(end - start)
        message = pa.py_buffer(content).slice(0, middle - start)
        batch = pa.ipc.read_record_batch(message, _SCHEMA)
        return _paper_of(batch, {"paper": content[middle - start :]})


@contextmanager
def stored_papers(directory: Path) -> Iterator[StoredPapers]:
    """Open a file in a directory; its name goes with the block, what it holds with the object."""
    path = directory / "papers.arrow"
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
