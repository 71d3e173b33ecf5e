"""Vectors in the formats of other programs; each writer takes a directory that exists.

* ``word2vec``, ``word2vec-bin``: text and binary of word2vec, as gensim's KeyedVectors loads them;
* ``npy``: the matrix, and one id per line;
* ``tsv``: ``vectors.tsv`` and ``metadata.tsv`` of the TensorFlow projector, in its page or in
  TensorBoard, which ``projector_config.pbtxt`` tells of them;
* ``parquet``: columns ``id``, ``title`` and ``vector``;
* ``safetensors``: the tensor ``vectors``, and one id per line;
* ``faiss``: an index of inner products over the vectors scaled to length 1, and one id per line.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpbert.foundation.errors import VectorsError

if TYPE_CHECKING:  # the help of export-vectors needs the names of the formats alone
    import numpy as np

    from mpbert.vectors.store import VectorStore

_BLOCK = 8192  # rows written at once
_PROJECTOR = """embeddings {
  tensor_name: "vectors"
  tensor_path: "vectors.tsv"
  metadata_path: "metadata.tsv"
}
"""


def write_word2vec(store: "VectorStore", titles: Sequence[str], directory: Path) -> None:
    """Write ``vectors.txt``; each float is the shortest text that reads back as the same float.

    :raises VectorsError: an id holds white space, which the format cannot express.
    """
    _write_word2vec(directory / "vectors.txt", store, lambda block: _lines_of_numbers(" ", block))


def write_word2vec_binary(store: "VectorStore", titles: Sequence[str], directory: Path) -> None:
    """Write ``vectors.bin``: "id ", then little-endian float32 numbers, then a line feed.

    :raises VectorsError: an id holds white space, which the format cannot express.
    """
    import numpy as np

    def rows_of(block: np.ndarray) -> Iterator[bytes]:
        return (row.tobytes() + b"\n" for row in np.ascontiguousarray(block, dtype="<f4"))

    _write_word2vec(directory / "vectors.bin", store, rows_of)


def _write_word2vec(
    path: Path, store: "VectorStore", rows_of: "Callable[[np.ndarray], Iterable[bytes]]"
) -> None:
    for row, name in enumerate(store.ids):
        if name.split() != [name]:
            raise VectorsError(
                f"id {name!r} (row {row}) holds white space, which word2vec files cannot express; "
                f"expected ids without; choose --format npy or parquet"
            )
    with path.open("wb") as file:
        file.write(f"{len(store)} {store.dim}\n".encode())
        for start, block in _blocks(store):
            rows = zip(store.ids[start : start + len(block)], rows_of(block), strict=True)
            file.writelines(b"%b %b" % (name.encode(), row) for name, row in rows)


def write_npy(store: "VectorStore", titles: Sequence[str], directory: Path) -> None:
    """Write ``vectors.npy`` and ``vectors.ids.txt``."""
    store.save(directory, "vectors")


def write_tsv(store: "VectorStore", titles: Sequence[str], directory: Path) -> None:
    """Write ``vectors.tsv``, ``metadata.tsv`` (id and title) and ``projector_config.pbtxt``."""
    with (directory / "vectors.tsv").open("wb") as file:
        for _, block in _blocks(store):
            file.writelines(_lines_of_numbers("\t", block))
    lines = ["id\ttitle\n"]
    for name, title in zip(store.ids, titles, strict=True):
        lines.append(f"{' '.join(name.split())}\t{' '.join(title.split())}\n")
    (directory / "metadata.tsv").write_text("".join(lines), encoding="utf-8")
    (directory / "projector_config.pbtxt").write_text(_PROJECTOR, encoding="utf-8")


def write_parquet(store: "VectorStore", titles: Sequence[str], directory: Path) -> None:
    """Write ``vectors.parquet``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    vector_type = pa.list_(pa.float32(), store.dim)
    schema = pa.schema([("id", pa.string()), ("title", pa.string()), ("vector", vector_type)])
    with pq.ParquetWriter(directory / "vectors.parquet", schema, compression="zstd") as writer:
        for start, block in _blocks(store):
            end = start + len(block)
            numbers = pa.array(block.ravel(), pa.float32())
            columns = [
                pa.array(store.ids[start:end], pa.string()),
                pa.array(list(titles[start:end]), pa.string()),
                pa.FixedSizeListArray.from_arrays(numbers, type=vector_type),
            ]
            writer.write_table(pa.table(columns, schema=schema))


def write_faiss(store: "VectorStore", titles: Sequence[str], directory: Path) -> None:
    """Write ``index.faiss``, whose inner products are cosines, and ``index.ids.txt``."""
    import faiss  # the one format that needs it

    from mpbert.vectors.normal import normalized

    index = faiss.IndexFlatIP(store.dim)
    for _, block in _blocks(store):
        index.add(normalized(block))
    faiss.write_index(index, str(directory / "index.faiss"))
    store.save_ids(directory, "index")


def write_safetensors(store: "VectorStore", titles: Sequence[str], directory: Path) -> None:
    """Write ``vectors.safetensors`` and ``vectors.ids.txt``."""
    import numpy as np
    from safetensors.numpy import save_file  # the one format that needs it

    tensors = {"vectors": np.ascontiguousarray(store.vectors)}
    save_file(tensors, directory / "vectors.safetensors")
    store.save_ids(directory, "vectors")


# format -> writer of (vectors, titles, directory)
WRITERS: dict[str, Callable[["VectorStore", Sequence[str], Path], None]] = {
    "faiss": write_faiss,
    "npy": write_npy,
    "parquet": write_parquet,
    "safetensors": write_safetensors,
    "tsv": write_tsv,
    "word2vec": write_word2vec,
    "word2vec-bin": write_word2vec_binary,
}


def _blocks(store: "VectorStore") -> "Iterator[tuple[int, np.ndarray]]":
    import numpy as np

    for start in range(0, len(store), _BLOCK):
        yield start, np.asarray(store.vectors[start : start + _BLOCK])


def _lines_of_numbers(delimiter: str, block: "np.ndarray") -> list[bytes]:
    """Return a line per row; ids are no part of it, as a writer of CSV refuses quotes in them."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pacsv

    columns = [pa.array(np.ascontiguousarray(column)) for column in block.T]
    table = pa.table(columns, names=[str(i) for i in range(len(columns))])
    options = pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
    text = io.BytesIO()
    pacsv.write_csv(table, text, options)
    return text.getvalue().splitlines(keepends=True)
