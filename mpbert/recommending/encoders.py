"""What makes the vectors of an index: two towers, a pretrained encoder of sentences, or nothing.

The folder ``encoder`` of an index tells which: ``config.json`` is that of two towers
(:mod:`mpbert.recommending.reading`), ``sentence_encoder`` alone is an encoder that others have
trained, and an index by words has no such folder.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mpbert.foundation.errors import IndexFormatError
from mpbert.foundation.extras import check_installed
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of
from mpbert.recommending.directory import ENCODER, IndexData
from mpbert.recommending.index_encoder import IndexEncoder, PaperTexts
from mpbert.vectors.normal import normalized

_TWO_TOWER_FILES = "config.json", "model.safetensors", "tokenizer.json", "modules.json"
_BLOCK = 256  # papers embedded between two steps of the progress bar
_CITING_WEIGHT = 3  # the citing sentence beside its neighbours, as of the words


class SentenceMeans(IndexEncoder):
    """Means of the vectors of sentences by an encoder that others have trained.

    Of a paper its title and abstract are read, or where they are short its first ten sentences; of
    a manuscript the sentence at the place, which counts three times, and its neighbours.

    :param folder: of the encoder, see :func:`mpbert.pretrained.folders.folder_of`.
    :raises EncoderError: there is no such encoder.
    :raises ModuleNotFoundError: its library is not installed.
    """

    def __init__(self, folder: Path) -> None:
        check_installed("transformers")
        from mpbert.pretrained.sentence_encoder import SentenceEncoder  # torch
        from mpbert.pretrained.sentence_vectors import OPENING

        self._opening = OPENING
        self._encoder = SentenceEncoder(folder)
        self.dim = self._encoder.dim

    def embed_manuscript(self, sentences: Sequence[str], place: int) -> np.ndarray:
        """Return the (D,) vector of length 1 of a manuscript around one sentence."""
        first, last = max(place - 1, 0), min(place + 2, len(sentences))
        weights = np.ones(last - first)
        weights[place - first] = _CITING_WEIGHT
        vectors = self._encoder.encode(sentences[first:last])
        return normalized((weights @ vectors)[None].astype(np.float32))[0]

    def embed_papers(self, papers: Sequence[PaperTexts]) -> np.ndarray:
        """Return (K, D) vectors of length 1; that of a paper does not depend on other papers."""
        starts = progress(range(0, len(papers), _BLOCK), "embed papers", "block")
        found = [self._means(papers[start : start + _BLOCK]) for start in starts]
        return np.concatenate([np.zeros((0, self.dim), dtype=np.float32), *found])

    def _means(self, papers: Sequence[PaperTexts]) -> np.ndarray:
        read = [sentences[: max(number, self._opening)] for _, sentences, number in papers]
        vectors = self._encoder.encode([text for sentences in read for text in sentences])
        ends = offsets_of([len(sentences) for sentences in read])[:-1]
        return normalized(np.add.reduceat(vectors, ends, axis=0))  # each has a title


def encoder_of_index(path: Path, data: IndexData) -> IndexEncoder:
    """Return what makes the vectors of an index.

    :param path: the index, ``data`` what it holds.
    :raises EncoderError: the encoder is damaged.
    :raises IndexFormatError: vectors or weights of tokens are of another encoder.
    """
    dim = data.tables.vectors.shape[1]
    if not dim and not (path / ENCODER).exists():
        return IndexEncoder()
    from mpbert.model.description import SENTENCE_ENCODER
    from mpbert.recommending.reading import EncoderReader

    folder = path / ENCODER / SENTENCE_ENCODER
    if (path / ENCODER / "config.json").exists() or not folder.is_dir():
        return EncoderReader.of_index(path, data)
    found = SentenceMeans(folder)
    if found.dim != dim:
        raise IndexFormatError(
            f"{path}: found vectors of {dim} dimensions; expected {found.dim}, as its encoder "
            f"makes; build the index again"
        )
    return found


def encoder_in(folder: Path | None, readings: int, seed: int) -> IndexEncoder:
    """Return what makes the vectors of papers, from the folder of an encoder; None: nothing does.

    :param readings: of a text by an encoder of mpbert, ``seed`` theirs.
    :raises EncoderError: the folder holds no encoder, or a damaged one.
    """
    if folder is None:
        return IndexEncoder()
    if not is_two_tower(folder):
        return SentenceMeans(folder)
    from mpbert.model.description import read_description
    from mpbert.recommending.reading import EncoderReader

    return EncoderReader(folder, readings, seed, read_description(folder).model.vector_dim)


def needs_torch(folder: Path | None) -> bool:
    """Whether torch runs the encoder of a folder."""
    if folder is None or not is_two_tower(folder):
        return folder is not None
    from mpbert.model.description import read_description

    return not read_description(folder).is_bag


def is_two_tower(folder: Path) -> bool:
    """Whether a folder holds an encoder of mpbert, and not one of Hugging Face's library."""
    try:
        return "kind" in json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, RecursionError):
        return False


def copy_encoder(encoder: Path, target: Path) -> None:
    """Copy what is read of an encoder of mpbert, its pretrained one among it, if it has one.

    :param target: folder to make.
    """
    from mpbert.model.description import SENTENCE_ENCODER, TUNED

    target.mkdir()
    for name in (*_TWO_TOWER_FILES, TUNED):
        if (encoder / name).exists():
            shutil.copyfile(encoder / name, target / name)
    if (encoder / SENTENCE_ENCODER).is_dir():
        shutil.copytree(encoder / SENTENCE_ENCODER, target / SENTENCE_ENCODER)
