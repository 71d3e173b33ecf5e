"""Texts to vectors with an index's own encoder: manuscripts that ask, papers that are added."""

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mpbert.foundation.errors import EncoderError, IndexFormatError
from mpbert.model.reading import Reading
from mpbert.model.sampling import SampledSentences
from mpbert.vectors.normal import normalized

_BATCH_TOKENS = 16384  # of a batch: bounds memory, does not change the vectors


class EncoderReader:
    """Both towers of an encoder, reading as they were trained to read.

    :param path: encoder directory.
    :param readings: random readings of a text whose vectors are averaged.
    :param seed: seed of the readings: the same text gets the same vector each time.
    :param dim: vectors are the first so many dimensions of what the encoder makes.
    :raises EncoderError: it is damaged.
    :raises IndexFormatError: it makes fewer dimensions.
    """

    def __init__(self, path: Path, readings: int, seed: int, dim: int) -> None:
        from mpbert.model.directory import (  # torch, which words alone do not need
            load_two_tower,
            read_description,
        )
        from mpbert.model.sentences import text_sentences

        description = read_description(path)
        if description.model.vector_dim < dim:
            raise IndexFormatError(
                f"{path}: makes vectors of {description.model.vector_dim} dimensions, those of "
                f"the papers have {dim}; build the index again"
            )
        self._model = load_two_tower(path).eval()
        self._sentences = text_sentences(path, description)
        self._reading = Reading(description.reading, seed)
        self._numbers, self._dim = range(readings), dim

    def embed_manuscript(self, sentences: Sequence[str], place: int) -> np.ndarray:
        """Return the (D,) vector of length 1 of a manuscript around one sentence."""
        first, citing, last = np.array([0]), np.array([place]), np.array([len(sentences) - 1])
        readings = [
            self._reading.manuscripts(first, citing, last, citing, number)
            for number in self._numbers
        ]
        return self._embed(self._model.manuscript, sentences, readings, "this manuscript")

    def embed_paper(self, paper_id: str, sentences: Sequence[str], num_abstract: int) -> np.ndarray:
        """Return the (D,) vector of length 1 of a paper; it does not depend on other papers.

        :param sentences: title, abstract and body.
        :param num_abstract: how many are title and abstract.
        """
        first, abstract, total = np.array([0]), np.array([num_abstract]), np.array([len(sentences)])
        item = np.array([zlib.crc32(paper_id.encode())])
        readings = [
            self._reading.papers(first, abstract, total, item, number) for number in self._numbers
        ]
        return self._embed(self._model.citation, sentences, readings, f"paper {paper_id!r}")

    def _embed(
        self,
        tower: object,
        sentences: Sequence[str],
        readings: Sequence[SampledSentences],
        name: str,
    ) -> np.ndarray:
        """Return the mean vector of several readings, in one batch.

        :param name: what messages call it.
        :raises EncoderError: it holds NaN or infinity.
        """
        from mpbert.model.embedding import embed_sampled

        together = SampledSentences(
            *(
                np.concatenate([getattr(reading, name) for reading in readings])
                for name in ("sentences", "per_item", "roles")
            )
        )
        source = self._sentences.of(sentences, together.sentences)
        vectors = embed_sampled(tower, together, source, _BATCH_TOKENS).astype(np.float64)
        if not np.isfinite(vectors).all():
            raise EncoderError(
                f"the encoder gives {name} a vector of NaN or infinity; train it with "
                f"a lower learning rate, and build the index again"
            )
        return normalized(vectors.mean(axis=0, keepdims=True)[:, : self._dim])[0]
