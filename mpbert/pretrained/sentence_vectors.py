"""Stored vectors of the sentences of a corpus, made by an encoder that is not trained any more.

A directory with ``vectors.npy``, (M, E) float16 of length 1, one of each distinct text;
``rows.npy``, (S,) int32, the row of each sentence number (:mod:`mpbert.corpus.numbering`), -1 where
it has none; ``meta.json``; and ``encoder``, a copy of the encoder. Where its last layers are to be
tuned, also what enters these, see :mod:`mpbert.pretrained.token_states`.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from mpbert.corpus.numbering import number_offsets, numbered_texts
from mpbert.corpus.splits import SPLITS
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.arrays import load_array
from mpbert.foundation.checksums import MANIFEST, fingerprint
from mpbert.foundation.errors import CorpusError, VectorsError
from mpbert.foundation.growing_arrays import take_place
from mpbert.foundation.manifest import check_format, read_manifest
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.pretrained.options import PARTS
from mpbert.pretrained.token_states import OFFSETS, STATES, TokenStates, check_room

if TYPE_CHECKING:  # torch takes seconds
    from mpbert.pretrained.sentence_encoder import SentenceEncoder

BLOCK = 2048  # texts that are stored together: what a killed run has to do again, at most
FORMAT = 1
OPENING = 10  # first sentences of a paper that count as its abstract, however short that is
ENCODER = "encoder"  # folder with a copy of the encoder


class SentenceVectors:
    """Read-only access to the stored vectors; they are mapped, not loaded.

    :param path: directory made by ``embed-sentences``.
    :raises VectorsError: it is none, or damaged.
    :raises DamagedError: it is of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        check_format(self.path)
        try:
            self._meta: dict[str, Any] = json.loads((self.path / "meta.json").read_text("utf-8"))
            self._rows, self._vectors = (
                load_array(self.path / f"{name}.npy") for name in ("rows", "vectors")
            )
            whole = self._vectors.shape == (self._rows.max(initial=-1) + 1, int(self._meta["dim"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise VectorsError(
                f"{self.path}: unreadable ({' '.join(str(error).split())}); expected an output of "
                f"mpbert embed-sentences"
            ) from error
        if not whole:
            raise VectorsError(
                f"{self.path}: found {self._vectors.shape} vectors; expected one for each row in "
                f"rows.npy, of meta.json's dimensions: run mpbert embed-sentences again"
            )
        layers = int(self._meta["tuned_layers"])
        self.states = TokenStates(self.path, layers, len(self._vectors)) if layers else None

    @property
    def dim(self) -> int:
        """Dimensions E of a vector."""
        return self._vectors.shape[1]

    @property
    def num_sentences(self) -> int:
        """Sentences S of the corpus, with or without a vector."""
        return len(self._rows)

    @property
    def model_sha256(self) -> str:
        """SHA-256 of the encoder's weights."""
        return str(self._meta["model_sha256"])

    @property
    def parts(self) -> tuple[str, ...]:
        """Those of ``PARTS`` whose sentences have vectors."""
        return tuple(self._meta["parts"])

    @property
    def tuned_layers(self) -> int:
        """Last layers of the encoder that the stored token states enter; 0: there are none."""
        return self.states.layers if self.states else 0

    @property
    def num_texts(self) -> int:
        """Distinct texts M of the sentences."""
        return len(self._vectors)

    def gather(self, sentences: np.ndarray) -> np.ndarray:
        """Return (K, E) float32 vectors of (K,) sentence numbers.

        :raises CorpusError: a sentence has no vector.
        """
        return self._vectors[self.texts_of(sentences)].astype(np.float32)

    def texts_of(self, sentences: np.ndarray) -> np.ndarray:
        """Return (K,) which of the distinct texts each of (K,) sentence numbers has.

        :raises CorpusError: a sentence has no vector.
        """
        if sentences.size and not 0 <= sentences.min() <= sentences.max() < self.num_sentences:
            raise CorpusError(
                f"{self.path}: found no sentence {sentences.max()} among {self.num_sentences}; "
                f"expected vectors of the same corpus: run mpbert embed-sentences on it"
            )
        rows = self._rows[sentences]
        if (absent := sentences[rows < 0]).size:
            raise CorpusError(
                f"{self.path}: sentence {absent[0]} and {len(absent) - 1} more have no vector, "
                f"only those of the parts {', '.join(self.parts)}; make them anew with mpbert "
                f"embed-sentences CORPUS MODEL OUTPUT --parts {' '.join(PARTS)}"
            )
        return rows

    def has(self, sentences: np.ndarray) -> np.ndarray:
        """Return (K,) whether each of these sentence numbers has a vector."""
        return self._rows[sentences] >= 0

    def check_corpus(self, path: Path) -> None:
        """Check that the vectors are those of a corpus store, or of what was made from it.

        A directory without a manifest was not made here, and is not checked.

        :param path: corpus store, or binary corpus.
        :raises CorpusError: they are of another corpus.
        """
        if not (path / MANIFEST).is_file():
            return
        known = {fingerprint(path), *read_manifest(path).get("inputs", {}).values()}
        if self._meta["corpus"] not in known:
            raise CorpusError(
                f"{self.path}: its sentences are those of another corpus than {path}; expected the "
                f"same: run mpbert embed-sentences on the corpus store that {path} is or is of"
            )


def numbers_of(store: CorpusStore, parts: Sequence[str]) -> np.ndarray:
    """Return the sentence numbers of parts of a corpus, ascending.

    :param parts: ``abstract``: titles, abstracts and the sentences that follow a short one, of
        which manuscripts are read too; ``body``: all other sentences; ``citing``: citing sentences
        of all splits, with the sentences before and after them in the paper.
    """
    offsets = number_offsets(store)
    chosen = np.zeros(offsets[-1], dtype=bool)
    in_abstract = np.zeros(offsets[-1], dtype=bool)
    opening = np.minimum(np.maximum(store.num_abstract + 1, OPENING), np.diff(offsets))
    in_abstract[ranges(offsets[:-1], opening)] = True
    if "abstract" in parts:
        chosen |= in_abstract
    if "body" in parts:
        chosen |= ~in_abstract
    for split in SPLITS if "citing" in parts else ():
        contexts = store.contexts(split)
        first, end = offsets[contexts.citing_rows], offsets[contexts.citing_rows + 1]
        for step in (-1, 0, 1):
            chosen[np.clip(first + 1 + contexts.positions + step, first, end - 1)] = True
    return np.flatnonzero(chosen)


def distinct_texts(store: CorpusStore, numbers: np.ndarray) -> tuple[pa.Array, np.ndarray]:
    """Return (M,) distinct texts of sentences, and (S,) int32 which of them each sentence has.

    Sentences whose numbers are not given have -1.
    """
    encoded = numbered_texts(store, numbers).dictionary_encode()
    rows = np.full(number_offsets(store)[-1], -1, dtype=np.int32)
    rows[numbers] = encoded.indices.to_numpy()
    return encoded.dictionary, rows


def write_blocks(
    texts: pa.Array, encoder: "SentenceEncoder", tuned_layers: int, parts: Path
) -> list[Path]:
    """Write (M, E) float16 vectors of texts, and where layers are to be tuned what enters these.

    What ``parts`` holds of them already, from a run that was killed, is not made again.

    :param tuned_layers: of the encoder; 0: vectors alone.
    :param parts: folder for these arrays alone.
    :returns: the files.
    :raises OutputError: the states find no room.
    """
    stored = StoredBlocks(parts)
    if not tuned_layers:
        vectors = stored.array("vectors", (len(texts), encoder.dim))

        def write(block: slice) -> None:
            vectors[block] = encoder.encode(texts[block].to_pylist())

        stored.fill(len(texts), BLOCK, write, "embed sentences")
        return [stored.file("vectors")]
    offsets = _token_offsets(texts, encoder)
    check_room(parts, int(offsets[-1]), encoder.dim)
    np.save(stored.file(OFFSETS), offsets)
    vectors = stored.array("vectors", (len(texts), encoder.dim))
    states = stored.array(STATES, (int(offsets[-1]), encoder.dim))

    def write_both(block: slice) -> None:
        vectors[block], found = encoder.encode_with_states(texts[block].to_pylist(), tuned_layers)
        states[offsets[block.start] : offsets[block.stop]] = found.items

    stored.fill(len(texts), BLOCK, write_both, "embed sentences")
    return [stored.file(name) for name in ("vectors", STATES, OFFSETS)]


def _token_offsets(texts: pa.Array, encoder: "SentenceEncoder") -> np.ndarray:
    """Return (M + 1,) offsets of the tokens that the encoder reads of each text."""
    blocks = (texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK))
    lengths = [encoder.rows(block.to_pylist()).lengths for block in blocks]
    return offsets_of(np.concatenate([np.zeros(0, np.int64), *lengths]))


class StoredBlocks:
    """Arrays in a folder of their own, with a note of how many blocks are finished.

    :param parts: the folder, for these arrays alone.
    """

    def __init__(self, parts: Path) -> None:
        self._parts, self._note = parts, parts / "finished.txt"
        self._arrays: list[np.memmap] = []
        is_begun = self._note.is_file()
        self._finished = int(self._note.read_text(encoding="utf-8")) if is_begun else 0

    def array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return a float16 array to fill, mapped into memory: ``NAME.npy``."""
        mode = "r+" if self._finished else "w+"
        made = np.lib.format.open_memmap(self.file(name), mode, np.float16, shape)
        with self.file(name).open("r+b") as file:
            take_place(file, self.file(name).stat().st_size)
        self._arrays.append(made)
        return made

    def file(self, name: str) -> Path:
        """Return the file of an array."""
        return self._parts / f"{name}.npy"

    def fill(self, num_items: int, size: int, write: Callable[[slice], None], what: str) -> None:
        """Let a function write every block that is not finished.

        :param size: items of a block, which ``write`` is told as a slice.
        :param what: for the bar of progress.
        """
        for place in progress(range(self._finished, -(-num_items // size)), what, "block"):
            write(slice(place * size, min((place + 1) * size, num_items)))
            for array in self._arrays:
                array.flush()
            unfinished = self._note.with_suffix(".tmp")
            unfinished.write_text(str(place + 1), encoding="utf-8")
            unfinished.rename(self._note)
