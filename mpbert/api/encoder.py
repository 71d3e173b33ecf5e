"""Texts to vectors with an encoder of a directory."""

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpbert.api.paper_texts import AnyPaper, paper_texts
from mpbert.corpus.records import Paper
from mpbert.foundation.errors import ConfigError, EncoderError, ManuscriptError, OutputError
from mpbert.model.description import read_description
from mpbert.recommending.manuscripts.sentences import manuscript_at
from mpbert.recommending.reading import EncoderReader

if TYPE_CHECKING:  # none of the base installation
    import pandas as pd


class Encoder:
    """Both towers of an encoder: one reads manuscripts, the other papers that may be cited.

    A manuscript and the papers that belong at a place in it have a large inner product, which is
    their cosine similarity, since all vectors have length 1.

    >>> from mpbert import Encoder
    >>> encoder = Encoder("runs/encoders/rfc/token_bag_matches")
    >>> asked = encoder.embed_manuscript("Mail is sent to the host that the MX record names.")
    >>> asked.shape == (encoder.dim,)
    True

    :param path: directory made by ``mpbert finetune``, or ``encoder`` of an index.
    :param readings: random readings of a text whose vectors are averaged.
    :param seed: of the readings: the same text gets the same vector each time.
    :param dim: take the first so many dimensions of each vector, for encoders that were trained
        with ``nested_dims``; None for all.
    :raises EncoderError: the directory is no encoder, or damaged.
    :raises ConfigError: ``readings`` or ``dim`` is less than 1, or ``dim`` more than there are.
    """

    def __init__(
        self, path: str | Path, readings: int = 3, seed: int = 1, dim: int | None = None
    ) -> None:
        self.path, self.readings, self.seed = Path(path), readings, seed
        most = read_description(self.path).model.vector_dim
        self.dim = most if dim is None else dim
        if readings < 1 or not 1 <= self.dim <= most:
            raise ConfigError(
                f"readings {readings}, dim {self.dim}; expected 1 or more, and at most {most} "
                f"dimensions"
            )
        self._reader = EncoderReader(self.path, readings, seed, self.dim)

    def __repr__(self) -> str:
        return f"Encoder({str(self.path)!r}): {self.dim} dimensions, {self.readings} readings"

    @cached_property
    def config(self) -> dict[str, Any]:
        """How the encoder was made and reads texts: the content of its ``config.json``.

        >>> from mpbert import Encoder
        >>> encoder = Encoder("runs/encoders/rfc/token_bag_matches")
        >>> encoder.config["model"]["dim"] == encoder.dim
        True
        """
        file = self.path / "config.json"
        try:
            config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return config
        except (OSError, ValueError, RecursionError) as error:
            raise EncoderError(
                f"{file}: not readable as an encoder ({error}); expected an output of "
                f"mpbert finetune, or the folder encoder of an index"
            ) from error

    def embed_manuscript(
        self,
        text: str | Sequence[str],
        place: int | None = None,
        title: str = "",
        abstract: str = "",
    ) -> np.ndarray:
        """Return the (D,) float32 vector, of length 1, of a manuscript around one place.

        >>> from mpbert import Encoder
        >>> encoder = Encoder("runs/encoders/rfc/token_bag_matches")
        >>> text = "Mail is relayed by hosts. Names are resolved as others do. It is slow."
        >>> vector = encoder.embed_manuscript(text, place=text.index(" as others"))
        >>> vector.shape == (encoder.dim,), round(float(vector @ vector), 4)
        (True, 1.0)

        :param text: the manuscript; citation markers in it are cut out. Or its sentences, as a
            list, which are read as they are.
        :param place: a citation belongs before this character of ``text``, counted from 0; None
            for its end. Of a list it is the number of the sentence, from 0; None for the last.
        :param title: of the manuscript, and ``abstract``; not beside a list of sentences.
        :raises ManuscriptError: the place is outside of the text, or there is no word.
        """
        if isinstance(text, str):
            manuscript = manuscript_at(text, place, title, abstract)
            return self._reader.embed_manuscript(manuscript.sentences, int(manuscript.places[0]))
        if title or abstract:
            raise ManuscriptError(
                "found title or abstract beside a list of sentences; expected them in the list"
            )
        sentences = list(text)
        place = len(sentences) - 1 if place is None else place
        if not 0 <= place < len(sentences):
            raise ManuscriptError(
                f"place {place}: no such sentence; expected 0 or more, below their number "
                f"{len(sentences)}"
            )
        return self._reader.embed_manuscript(sentences, place)

    def embed_papers(self, papers: "Iterable[AnyPaper] | pd.DataFrame") -> np.ndarray:
        """Return the (N, D) float32 vectors, of length 1, of papers that may be cited.

        A vector depends on no other paper. It does depend on the paper's id, from which the random
        choice of its sentences comes; where there is none, the title is the id.

        >>> from mpbert import Corpus, Encoder
        >>> encoder = Encoder("runs/encoders/rfc/token_bag_matches")
        >>> mail = {"title": "Mail routing", "abstract": "Hosts relay mail. Names are resolved."}
        >>> encoder.embed_papers([mail, "Mail routing. Hosts relay mail."]).shape[0]
        2
        >>> corpus = Corpus("runs/corpus/rfc")
        >>> cited = encoder.embed_papers(corpus.paper(name) for name in corpus.papers.index[:3])
        >>> cited.shape == (3, encoder.dim)
        True

        :param papers: a table with the columns ``title``, ``abstract``, ``body`` and ``paper_id``,
            such as :attr:`Corpus.papers`, which has no ``body``. Or N papers, each of them what
            :meth:`Corpus.paper` returns, a mapping with these keys, or a text of title and
            abstract. One of title, abstract and body is enough.
        :raises ManuscriptError: a paper holds no word.
        :raises TypeError: ``papers`` is a single paper.
        """
        if isinstance(papers, (str, Mapping, Paper)):
            raise TypeError(f"papers is one {type(papers).__name__}; expected a list of papers")
        pandas = sys.modules.get("pandas")  # there is no table where it was not imported
        if pandas is not None and isinstance(papers, pandas.DataFrame):
            papers = papers.reset_index().to_dict("records")
        vectors = [
            self._reader.embed_paper(*paper_texts(paper, number))
            for number, paper in enumerate(papers)
        ]
        return np.array(vectors, dtype=np.float32).reshape(len(vectors), self.dim)

    def save(self, path: str | Path) -> None:
        """Write a copy of the encoder's directory, to give away or to take out of an index.

        >>> from mpbert import Encoder
        >>> Encoder("runs/index/rfc/encoder").save("runs/taken")
        >>> Encoder("runs/taken").dim == Encoder("runs/encoders/rfc/token_bag_matches").dim
        True

        :param path: a directory that does not exist.
        :raises OutputError: it exists, or cannot be written.
        """
        path = Path(path)
        try:
            shutil.copytree(self.path, path)
        except (OSError, shutil.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise OutputError(
                f"{path}: cannot be written ({reason}); expected a new directory, choose another"
            ) from error
