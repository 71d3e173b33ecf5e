"""Texts to vectors with an index's own encoder: manuscripts that ask, papers that are added."""

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from mpbert.foundation.errors import EncoderError, IndexFormatError
from mpbert.model.description import read_description
from mpbert.model.reading import Reading
from mpbert.model.sampling import ABSTRACT, BODY, SampledSentences
from mpbert.model.text_encoder import open_text_encoder
from mpbert.recommending.directory import ENCODER, IndexData
from mpbert.vectors.matches import TokenWeights
from mpbert.vectors.normal import normalized


class EncoderReader:
    """Both towers of an encoder, reading as they were trained to read.

    :param path: encoder directory.
    :param readings: random readings of a text whose vectors are averaged.
    :param seed: seed of the readings: the same text gets the same vector each time.
    :param dim: vectors are the first so many dimensions of what the encoder makes.
    :raises EncoderError: it is damaged.
    :raises ModuleNotFoundError: it has levels, and a package that runs them is not installed.
    :raises IndexFormatError: it makes fewer dimensions.
    """

    def __init__(self, path: Path, readings: int, seed: int, dim: int) -> None:
        description = read_description(path)
        if description.model.vector_dim < dim:
            raise IndexFormatError(
                f"{path}: makes vectors of {description.model.vector_dim} dimensions, those of "
                f"the papers have {dim}; build the index again"
            )
        self._encoder = open_text_encoder(path, description)
        self._reading = Reading(description.reading, seed)
        self._nearest = self._reading.nearest()
        self._numbers, self._dim = range(readings), dim

    @classmethod
    def of_index(cls, path: Path, data: IndexData) -> "EncoderReader":
        """Return the reader of an index's own encoder.

        :param path: the index, ``data`` what it holds.
        :raises EncoderError: the encoder is damaged.
        :raises IndexFormatError: vectors or weights of tokens are of another encoder.
        """
        matches = data.tables.matches
        reader = cls(path / ENCODER, data.readings, data.seed, data.tables.vectors.shape[1])
        found = 0 if matches is None else matches.vocab_size
        if found != reader.num_matched:
            raise IndexFormatError(
                f"{path}: found exact matches of {found:,} tokens beside the vectors; expected "
                f"those of {reader.num_matched:,}, as its encoder makes; build the index again"
            )
        return reader

    @property
    def num_matched(self) -> int:
        """Number of tokens V whose exact matches count; 0: they do not."""
        return self._encoder.num_matched

    @property
    def dim(self) -> int:
        """Dimensions D of a vector."""
        return self._dim

    def embed_manuscript(self, sentences: Sequence[str], place: int) -> np.ndarray:
        """Return the (D,) vector of length 1 of a manuscript around one sentence."""
        read = self._readings(sentences, place)
        return self._embed(self._encoder.embed_manuscripts, sentences, read, "this manuscript")

    def read_ahead(self, manuscripts: Sequence[tuple[Sequence[str], int]]) -> None:
        """Read sentences of manuscripts together, if each is read by a pretrained encoder."""
        read = [(sentences, self._readings(sentences, place)) for sentences, place in manuscripts]
        self._encoder.read_ahead(read)

    def _readings(self, sentences: Sequence[str], place: int) -> SampledSentences:
        """Return the readings of a manuscript around one sentence."""
        numbers = np.array(self._numbers)
        bounds = (np.full(len(numbers), at) for at in (0, place, len(sentences) - 1))
        first, citing, last = bounds
        return self._reading.manuscripts(first, citing, last, citing, numbers)

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
        together = SampledSentences(
            *(
                np.concatenate([getattr(reading, name) for reading in readings])
                for name in ("sentences", "per_item", "roles")
            )
        )
        return self._embed(self._encoder.embed_papers, sentences, together, f"paper {paper_id!r}")

    def embed_papers(self, papers: Sequence[tuple[str, Sequence[str], int]]) -> np.ndarray:
        """Return (K, D) vectors of papers, each as of :meth:`embed_paper`."""
        return np.array([self.embed_paper(*paper) for paper in papers])

    def weigh_manuscript(self, sentences: Sequence[str], place: int) -> TokenWeights:
        """Return (1, V) weights of the tokens of a manuscript around one sentence, for search.

        :raises EncoderError: one is NaN or infinity.
        """
        first, citing, last = np.array([0]), np.array([place]), np.array([len(sentences) - 1])
        read = self._nearest.manuscripts(first, citing, last, citing, 0)
        return self._weigh(self._encoder.weigh_manuscripts, sentences, read, "this manuscript")

    def weigh_paper(
        self, paper_id: str, sentences: Sequence[str], num_abstract: int
    ) -> TokenWeights:
        """Return (1, V) weights of the tokens of a paper; all of its own text is read.

        :param sentences: as of :meth:`embed_paper`, as is ``num_abstract``.
        :raises EncoderError: one is NaN or infinity.
        """
        numbers = np.arange(len(sentences))
        roles = np.where(numbers < num_abstract, ABSTRACT, BODY)
        read = SampledSentences(numbers, np.array([len(numbers)]), roles)
        name = f"paper {paper_id!r}"
        return self._weigh(self._encoder.weigh_papers, sentences, read, name)

    def _weigh(
        self, weigh: Callable, sentences: Sequence[str], read: SampledSentences, name: str
    ) -> TokenWeights:
        weights = weigh(sentences, read)
        if not np.isfinite(weights.weights).all():
            raise EncoderError(
                f"the encoder gives {name} exact matches of NaN or infinity; train it with "
                f"a lower learning rate, and build the index again"
            )
        return weights

    def _embed(
        self,
        embed: Callable,
        sentences: Sequence[str],
        read: SampledSentences,
        name: str,
    ) -> np.ndarray:
        """Return the mean vector of several readings.

        :param read: all of them, in one batch.
        :param name: what messages call it.
        :raises EncoderError: it holds NaN or infinity.
        """
        vectors = embed(sentences, read).astype(np.float64)
        if not np.isfinite(vectors).all():
            raise EncoderError(
                f"the encoder gives {name} a vector of NaN or infinity; train it with "
                f"a lower learning rate, and build the index again"
            )
        return normalized(vectors.mean(axis=0, keepdims=True)[:, : self._dim])[0]
