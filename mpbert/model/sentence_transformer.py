"""An encoder directory as a model of the library sentence-transformers.

``modules.json`` in the directory names the class here, so this works where mpbert is installed::

    model = SentenceTransformer(path, trust_remote_code=True)
    model.encode_document([{"title": "A title", "abstract": "A text.", "text": "Its body."}])
    model.encode_document([["Title.", "First sentence.", "Second."], "A text of some sentences."])
    model.encode_query(["The sentence before. The one that cites. The one after."])

``encode`` is ``encode_document``: the citation tower; ``encode_query`` is the manuscript tower.
sentence-transformers loads no class of another package without ``trust_remote_code``; nothing is
fetched.
"""

import dataclasses
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sentence_transformers.base.modules import InputModule

from mpbert.corpus.text import clean_characters, split_sentences
from mpbert.model.description import (
    SENTENCE_ENCODER,
    TWO_TOWER,
    EncoderDescription,
    read_description,
)
from mpbert.model.directory import load_two_tower, read_tuned, save_encoder
from mpbert.model.encoder import TwoTower
from mpbert.model.reading import Reading
from mpbert.model.sampling import SampledSentences
from mpbert.model.sentences import TextSentences, text_sentences

SEED = 1  # of the reading, as of the commands


@dataclass(frozen=True)
class _Text:
    """Sentences of an input: title and abstract, then the body, then sentences that cite it."""

    sentences: list[str]
    num_abstract: int
    num_citing: int = 0


class TwoTowerModule(InputModule):
    """Both towers; an input is a text, a list of sentences, or a paper.

    A paper is a mapping of ``title``, ``abstract``, ``text`` (the body) and ``citing`` (sentences
    of others that cite it), those that are known, texts or lists of sentences. Of a plain text or
    list the first sentences count as the abstract. A query is a manuscript up to the sentence after
    the one that cites; of two sentences the last one cites. What is longer than the encoder was
    trained to read is sampled as :class:`~mpbert.model.reading.Reading` does it, by a key of the
    text: the same text has the same vector, alone and in any batch.
    """

    def __init__(
        self, path: Path, model: TwoTower, sentences: TextSentences, description: EncoderDescription
    ) -> None:
        super().__init__()
        self._path = path
        self.model, self._sentences = model, sentences
        self._description = description
        self._reading = Reading(description.reading, SEED)

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **_: object) -> "TwoTowerModule":
        """Read an encoder directory.

        :raises EncoderError: it is none, or is damaged.
        """
        path = Path(model_name_or_path) / subfolder
        description = dataclasses.replace(read_description(path), kind=TWO_TOWER)
        return cls(path, load_two_tower(path), text_sentences(path, description), description)

    def save(self, output_path: str, *_: object, **__: object) -> None:
        """Write an encoder directory; a pretrained encoder is copied from where it was read."""
        state, upper = self.model.state_dict(), self._description.model.upper
        folder = self._path / SENTENCE_ENCODER if upper.pretrained_sha256 else None
        tuned = read_tuned(self._path) if upper.tuned_layers else None
        with TemporaryDirectory() as directory:
            tokenizer = Path(directory) / "tokenizer.json"
            self._sentences.tokenize.tokenizer.save(str(tokenizer))
            save_encoder(Path(output_path), self._description, state, tokenizer, folder, tuned)

    def get_embedding_dimension(self) -> int:
        """Return the length of a vector, D."""
        return self._description.model.vector_dim

    def preprocess(
        self,
        inputs: Sequence[str | Sequence[str] | Mapping[str, str | Sequence[str]]],
        prompt: str | None = None,
        task: str | None = None,
        **_: object,
    ) -> dict[str, Any]:
        """Return a packed batch.

        :param prompt: is not used; the encoder was not trained with any.
        :param task: ``query`` for manuscripts; else papers.
        :raises ValueError: a paper has unknown keys, or is a query.
        """
        is_query = task == "query"
        abstract = self._reading.config.abstract_sentences
        read = [self._read(_text_of(text, is_query, abstract), is_query) for text in inputs]
        sentences = [sentence for own, _ in read for sentence in own]
        together = SampledSentences(
            np.arange(len(sentences)),
            np.concatenate([sampled.per_item for _, sampled in read]),
            np.concatenate([sampled.roles for _, sampled in read]),
        )
        source = self._sentences.of(sentences, together.sentences)
        return {"papers": source.batch(together), "is_query": is_query}

    def _read(self, text: _Text, is_query: bool) -> tuple[list[str], SampledSentences]:
        """Return the sentences that are read of one input; at least one, which may be empty."""
        total = len(text.sentences)
        own, zero = np.array([total - text.num_citing]), np.array([0])
        item = np.array([zlib.crc32("\n".join(text.sentences).encode())])
        if is_query:
            cites = np.array([total - 2 if total > 2 else total - 1])
            sampled = self._reading.manuscripts(zero, cites, own - 1, item, 0)
        else:
            citing = np.arange(total - text.num_citing, total), np.array([text.num_citing])
            abstract = np.array([text.num_abstract])
            sampled = self._reading.papers(zero, abstract, own, item, 0, citing)
        if not len(sampled.sentences):  # of a paper whose known parts the encoder does not read
            return self._read(_Text([""], 1), is_query)
        return [text.sentences[number] for number in sampled.sentences], sampled

    def forward(self, features: dict[str, Any], **_: object) -> dict[str, Any]:
        """Add ``sentence_embedding``, (B, D)."""
        tower = self.model.manuscript if features["is_query"] else self.model.citation
        papers = features["papers"].to(next(tower.parameters()).device)
        features["sentence_embedding"] = tower(papers)
        return features


def _text_of(
    text: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    is_query: bool,
    abstract_sentences: int,
) -> _Text:
    """Return the sentences of an input.

    :param abstract_sentences: how many count as the abstract where it is not known.
    :raises ValueError: a paper has unknown keys, or is a query.
    """
    if not isinstance(text, Mapping):
        sentences = _sentences(text) or [""]
        return _Text(sentences, min(len(sentences), abstract_sentences))
    if is_query or not set(text) <= {"title", "abstract", "text", "citing"}:
        raise ValueError(
            f"found {'a query' if is_query else 'a paper'} with the keys {sorted(text)}; "
            f"expected title, abstract, text or citing of a paper; a query is a text or a list"
        )
    title = [clean_characters(text["title"])] if text.get("title") else []
    abstract = [*title, *_sentences(text.get("abstract", ""))]
    citing = _sentences(text.get("citing", ""))
    sentences = [*abstract, *_sentences(text.get("text", "")), *citing]
    if not sentences:
        return _Text([""], 1)
    return _Text(sentences, len(abstract), len(citing))


def _sentences(text: str | Sequence[str]) -> list[str]:
    return split_sentences(clean_characters(text)) if isinstance(text, str) else list(text)
