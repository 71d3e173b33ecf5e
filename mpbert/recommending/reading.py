"""Texts to vectors with an index's own encoder: manuscripts that ask, papers that are added."""

import zlib
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from mpbert.foundation.errors import EncoderError, IndexFormatError
from mpbert.foundation.ragged import offsets_of
from mpbert.model.description import read_description
from mpbert.model.reading import Reading
from mpbert.model.sampling import ABSTRACT, BODY, SampledSentences
from mpbert.model.text_encoder import open_text_encoder
from mpbert.recommending.directory import ENCODER, IndexData
from mpbert.recommending.index_encoder import IndexEncoder, Places
from mpbert.vectors.matches import TokenWeights
from mpbert.vectors.normal import normalized


class EncoderReader(IndexEncoder):
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
        self._numbers, self.dim = range(readings), dim
        self.num_matched = self._encoder.num_matched

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

    def embed_manuscript(self, sentences: Sequence[str], place: int) -> np.ndarray:
        """Return the (D,) vector of length 1 of a manuscript around one sentence."""
        return self._embed_manuscripts([(sentences, place)])[0]

    def embed_manuscripts(self, asked: Places) -> np.ndarray:
        """Return (B, D) vectors, each to the digit that of :meth:`embed_manuscript`."""
        if self._encoder.reads_apart:
            return self._embed_manuscripts(asked)
        return super().embed_manuscripts(asked)

    def _embed_manuscripts(self, asked: Places) -> np.ndarray:
        texts, read = self._read(self._reading, asked, self._numbers)
        return self._embed(self._encoder.embed_manuscripts, texts, read, "this manuscript")

    def read_ahead(self, manuscripts: Places) -> None:
        """Read sentences of manuscripts together, if each is read by a pretrained encoder."""
        one_by_one = ([manuscript] for manuscript in manuscripts)
        read = [self._read(self._reading, one, self._numbers) for one in one_by_one]
        self._encoder.read_ahead(read)

    @staticmethod
    def _read(
        reading: Reading, asked: Places, numbers: Sequence[int]
    ) -> tuple[list[str], SampledSentences]:
        """Return all sentences of manuscripts, and the readings of each around its place.

        :param numbers: of the readings.
        """
        num_readings = len(numbers)
        lengths = np.array([len(sentences) for sentences, _ in asked])
        places = np.repeat([place for _, place in asked], num_readings)
        lasts = np.repeat(lengths - 1, num_readings)
        visits = np.tile(numbers, len(asked))
        found = reading.manuscripts(np.zeros_like(places), places, lasts, places, visits)
        starts = np.repeat(offsets_of(lengths)[:-1], num_readings)
        sentences = found.sentences + np.repeat(starts, found.per_item)
        texts = list(chain.from_iterable(sentences for sentences, _ in asked))
        return texts, SampledSentences(sentences, found.per_item, found.roles)

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
        embed = self._encoder.embed_papers
        return self._embed(embed, sentences, together, f"paper {paper_id!r}")[0]

    def embed_papers(self, papers: Sequence[tuple[str, Sequence[str], int]]) -> np.ndarray:
        """Return (K, D) vectors of papers, each as of :meth:`embed_paper`."""
        return np.array([self.embed_paper(*paper) for paper in papers])

    def weigh_manuscript(self, sentences: Sequence[str], place: int) -> TokenWeights:
        """Return (1, V) weights of the tokens of a manuscript around one sentence, for search.

        :raises EncoderError: one is NaN or infinity.
        """
        return self._weigh_manuscripts([(sentences, place)])

    def weigh_manuscripts(self, asked: Places) -> list[TokenWeights]:
        """Return the weights of several, each to the digit those of :meth:`weigh_manuscript`."""
        if self._encoder.reads_apart:
            together = self._weigh_manuscripts(asked)
            return [together.row(number) for number in range(len(asked))]
        return super().weigh_manuscripts(asked)

    def _weigh_manuscripts(self, asked: Places) -> TokenWeights:
        texts, read = self._read(self._nearest, asked, [0])
        return self._weigh(self._encoder.weigh_manuscripts, texts, read, "this manuscript")

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
        self, embed: Callable, sentences: Sequence[str], read: SampledSentences, name: str
    ) -> np.ndarray:
        """Return the (B, D) mean vectors of B texts.

        :param read: all readings of each, text after text.
        :param name: what messages call it.
        :raises EncoderError: it holds NaN or infinity.
        """
        vectors = embed(sentences, read).astype(np.float64)
        if not np.isfinite(vectors).all():
            raise EncoderError(
                f"the encoder gives {name} a vector of NaN or infinity; train it with "
                f"a lower learning rate, and build the index again"
            )
        means = vectors.reshape(-1, len(self._numbers), vectors.shape[1]).mean(axis=1)
        return normalized(means[:, : self.dim])
