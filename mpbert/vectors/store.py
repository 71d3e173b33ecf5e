"""A matrix of vectors with ids, as two files: ``NAME.npy`` and ``NAME.ids.txt``.

A vectors directory holds ``papers`` (citation vectors), ``contexts.valid`` and ``contexts.test``
(query vectors of the citation contexts of a split), and of some methods ``manuscripts.valid`` and
``manuscripts.test`` (query vectors of whole papers, from title and abstract), or those of
``train``, for lists that a reranker learns from.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from mpbert.foundation.arrays import load_array, write_array
from mpbert.foundation.errors import MpbertError, VectorsError
from mpbert.foundation.manifest import check_format, fingerprint, read_manifest

_BLOCK = 1 << 16  # rows checked at once: a memory-mapped matrix is never copied whole


def vectors_name(task: str, split: str) -> str:
    """Return the name of the query vectors of a task, ``local`` or ``global``."""
    return f"{'contexts' if task == 'local' else 'manuscripts'}.{split}"


def check_vectors(vectors: np.ndarray, ids: Sequence[str], source: str) -> np.ndarray:
    """Return (N, D) vectors as float32.

    :param ids: (N,) and ``source`` for messages.
    :raises VectorsError: wrong shapes, or a number that is not finite.
    """
    if vectors.ndim != 2 or len(vectors) != len(ids) or vectors.dtype.kind not in "fiu":
        raise VectorsError(
            f"{source}: found {vectors.dtype} vectors of shape {vectors.shape} for "
            f"{len(ids)} ids; expected one row of numbers per id, embed again"
        )
    vectors = vectors if vectors.dtype == np.float32 else vectors.astype(np.float32)
    for start in range(0, len(vectors) * bool(vectors.shape[1]), _BLOCK):
        finite = np.isfinite(vectors[start : start + _BLOCK]).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            raise VectorsError(
                f"{source}: the vector of {ids[row]!r} (row {row}) holds NaN or infinity; "
                f"train with a lower learning rate, or embed again"
            )
    return vectors


class VectorStore:
    """Vectors by row and by id; read-only.

    :param ids: (N,) distinct, not empty, without line breaks.
    :param vectors: (N, D), kept as float32.
    :param source: what the messages call it, such as the file it was read from.
    :raises VectorsError: wrong shapes, a duplicate or unusable id, a number that is not finite.
    """

    def __init__(
        self, ids: Sequence[str], vectors: np.ndarray, source: str = "these vectors"
    ) -> None:
        self.ids = list(ids)
        self.vectors = check_vectors(vectors, self.ids, source)
        self._check_ids(source)

    def _check_ids(self, source: str) -> None:
        if len(self.row_of) != len(self.ids):
            row = next(r for r, name in enumerate(self.ids) if self.row_of[name] != r)
            raise VectorsError(
                f"{source}: id {self.ids[row]!r} stands twice, first in row {row}; expected "
                f"distinct ids"
            )
        for row, name in enumerate(self.ids):
            if not name or name.splitlines() != [name]:
                raise VectorsError(
                    f"{source}: the id of row {row} is {name!r}; expected one line of text"
                )

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row of each id."""
        return {name: row for row, name in enumerate(self.ids)}

    @property
    def dim(self) -> int:
        """Length of a vector, D."""
        return self.vectors.shape[1]

    def first(self, dim: int | None) -> "VectorStore":
        """Return the first ``dim`` dimensions of each vector; all of them if None.

        An encoder that was trained with ``nested_dims`` makes them vectors of their own. The first
        dimensions of any other vector tell less.

        :raises VectorsError: there are not so many.
        """
        if dim is None:
            return self
        if not 1 <= dim <= self.dim:
            raise VectorsError(
                f"--dim {dim}: the vectors have {self.dim} dimensions; expected 1 to {self.dim}"
            )
        return VectorStore(self.ids, self.vectors[:, :dim])

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the vector of an id.

        :raises VectorsError: there is none.
        """
        if name not in self.row_of:
            raise VectorsError(f"no vector of {name!r} among {len(self)}; see the .ids.txt file")
        return self.vectors[self.row_of[name]]

    def save(self, directory: Path, name: str) -> None:
        """Write ``NAME.npy`` and ``NAME.ids.txt`` into a directory that exists."""
        np.save(directory / f"{name}.npy", self.vectors)
        self.save_ids(directory, name)

    def save_ids(self, directory: Path, name: str) -> None:
        """Write ``NAME.ids.txt``, an id a line, into a directory that exists."""
        text = "".join(f"{line}\n" for line in self.ids)
        (directory / f"{name}.ids.txt").write_text(text, encoding="utf-8")

    @classmethod
    def write(
        cls, directory: Path, name: str, ids: Sequence[str], dim: int, blocks: Iterable[np.ndarray]
    ) -> None:
        """Write what :meth:`save` writes of (N, ``dim``) vectors that come in blocks of rows.

        :raises VectorsError: see :class:`VectorStore`.
        """
        path = directory / f"{name}.npy"
        with path.open("wb") as file:
            write_array(file, (len(ids), dim), np.float32, blocks)
        cls(ids, load_array(path)).save_ids(directory, name)

    @classmethod
    def load(cls, directory: Path, name: str) -> "VectorStore":
        """Read what :meth:`save` wrote; the matrix is memory-mapped.

        :raises VectorsError: a file is missing or malformed.
        :raises DamagedError: the directory is of another format.
        """
        path = Path(directory) / f"{name}.npy"
        check_format(path.parent)
        try:
            vectors = load_array(path)
            text = path.with_name(f"{name}.ids.txt").read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise VectorsError(
                f"{path}: unreadable ({reason}); expected a vectors directory with {name}.npy and "
                f"{name}.ids.txt, made by mpbert embed or fit"
            ) from error
        return cls(text.splitlines(), vectors, source=str(path))


def check_ids(found: VectorStore, expected: Sequence[str], source: str) -> None:
    """Check that vectors have these ids, in this order.

    :param source: what the message calls the vectors.
    :raises VectorsError: the ids or their order differ; the first difference is named.
    """
    if len(found) != len(expected):
        raise VectorsError(
            f"{source}: found {len(found)} vectors; expected {len(expected)}, one per row of the "
            f"corpus; embed this corpus"
        )
    for row, (ours, theirs) in enumerate(zip(found.ids, expected, strict=True)):
        if ours != theirs:
            raise VectorsError(
                f"{source}: found id {ours!r} in row {row}; expected {theirs!r} as in the corpus; "
                f"embed this corpus"
            )


def check_known_of(directory: Path, known: Sequence[str]) -> None:
    """Check with whose contexts the papers were read, as far as that is noted.

    :raises VectorsError: with those of other splits.
    """
    try:
        noted = read_manifest(directory).get("config", {}).get("known", ["train"])
    except MpbertError:
        return  # vectors of others, which say nothing
    if set(noted) != set(known):
        raise VectorsError(
            f"{directory}: found papers that were read with contexts of {' '.join(noted)}; "
            f"expected {' '.join(known)}: embed them with this --known"
        )


def check_made_with(directory: Path, dim: int, encoder: Path, encoder_dim: int) -> None:
    """Check that an encoder made the vectors of a directory, as far as that is noted.

    :param dim: length of the vectors; ``encoder_dim`` of those that the encoder makes.
    :raises VectorsError: another encoder made them.
    """
    try:
        made_from = read_manifest(directory).get("inputs", {}).values()
    except MpbertError:
        made_from = ()  # vectors of others, which say nothing
    if encoder_dim != dim or (made_from and fingerprint(encoder) not in made_from):
        raise VectorsError(
            f"{directory}: found vectors of {dim} dimensions that were not made with {encoder}, "
            f"which makes {encoder_dim}; embed the corpus with this encoder"
        )
