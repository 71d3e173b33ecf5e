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

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sentence_transformers.base.modules import InputModule
from tokenizers import Tokenizer

from mpbert.corpus.subwords import tokenize
from mpbert.corpus.text import clean_characters, split_sentences
from mpbert.model.directory import (
    load_two_tower,
    read_config,
    read_tokenizer,
    sampling_of,
    save_encoder,
)
from mpbert.model.encoder import HierarchicalConfig, TwoTower
from mpbert.model.packing import pack
from mpbert.model.sampling import ABSTRACT, BODY, CITING, NEIGHBOUR


class TwoTowerModule(InputModule):
    """Both towers; an input is a text, a list of sentences, or a paper.

    A paper is a mapping of ``title``, ``abstract``, ``text`` (the body) and ``citing`` (sentences
    of others that cite it), those that are known, texts or lists of sentences. Of a plain text or
    list the first sentences count as the abstract. What is longer than the encoder was trained to
    read is cut off: a paper at its end, a manuscript at its beginning. ``embed`` draws sentences
    of long papers instead.
    """

    def __init__(
        self,
        model: TwoTower,
        tokenizer: Tokenizer,
        config: HierarchicalConfig,
        settings: dict[str, Any],
    ) -> None:
        super().__init__()
        self.model, self.tokenizer = model, tokenizer
        self._config, self._settings = config, settings
        self._sampling = sampling_of(settings)

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **_: object) -> "TwoTowerModule":
        """Read an encoder directory.

        :raises EncoderError: it is none, or is damaged.
        """
        path = Path(model_name_or_path) / subfolder
        _, config, settings = read_config(path)
        return cls(load_two_tower(path), read_tokenizer(path), config, settings)

    def save(self, output_path: str, *_: object, **__: object) -> None:
        """Write an encoder directory."""
        state = self.model.state_dict()
        with TemporaryDirectory() as directory:
            tokenizer = Path(directory) / "tokenizer.json"
            self.tokenizer.save(str(tokenizer))
            path = Path(output_path)
            save_encoder(path, "two-tower", self._config, state, tokenizer, self._settings)

    def get_embedding_dimension(self) -> int:
        """Return the length of a vector, D."""
        return self._config.dim

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
        papers, roles = zip(*(self._read(text, is_query) for text in inputs), strict=True)
        sentences = [sentence for paper in papers for sentence in paper]
        tokens, lengths = tokenize(self.tokenizer, sentences, self._settings["max_tokens"])
        per_paper = np.array([len(paper) for paper in papers])
        batch = pack(tokens, lengths, per_paper, np.concatenate(roles))
        return {"papers": batch, "is_query": is_query}

    def _read(
        self, text: str | Sequence[str] | Mapping[str, str | Sequence[str]], is_query: bool
    ) -> tuple[list[str], np.ndarray]:
        """Return the sentences that are read of one input, and what each is read as.

        Of a manuscript the sentence before the last one cites, if there are three or more.
        """
        if isinstance(text, Mapping):
            return self._read_paper(text, is_query)
        sentences = _sentences(text) or [""]
        limits = self._sampling
        if is_query:
            sentences = sentences[-limits.manuscript_sentences :]
            if len(sentences) < 3:
                return sentences, np.full(len(sentences), CITING)
            roles = np.full(len(sentences), BODY)
            roles[-3:] = NEIGHBOUR, CITING, NEIGHBOUR
            return sentences, roles
        sentences = sentences[: limits.abstract_sentences + limits.body_sentences]
        roles = np.full(len(sentences), BODY)
        roles[: limits.abstract_sentences] = ABSTRACT
        return sentences, roles

    def _read_paper(
        self, paper: Mapping[str, str | Sequence[str]], is_query: bool
    ) -> tuple[list[str], np.ndarray]:
        """Return the sentences of a paper whose parts are known, and what each is read as."""
        if is_query or not set(paper) <= {"title", "abstract", "text", "citing"}:
            raise ValueError(
                f"found {'a query' if is_query else 'a paper'} with the keys {sorted(paper)}; "
                f"expected title, abstract, text or citing of a paper; a query is a text or a list"
            )
        title = [clean_characters(paper["title"])] if paper.get("title") else []
        limits = self._sampling
        parts = {
            ABSTRACT: [*title, *_sentences(paper.get("abstract", ""))][: limits.abstract_sentences],
            BODY: _sentences(paper.get("text", ""))[: limits.body_sentences],
            CITING: _sentences(paper.get("citing", ""))[: limits.citing_sentences],
        }
        sentences = [sentence for part in parts.values() for sentence in part]
        roles = np.repeat(list(parts), [len(part) for part in parts.values()])
        return (sentences, roles) if sentences else ([""], np.array([ABSTRACT]))

    def forward(self, features: dict[str, Any], **_: object) -> dict[str, Any]:
        """Add ``sentence_embedding``, (B, D)."""
        tower = self.model.manuscript if features["is_query"] else self.model.citation
        papers = features["papers"].to(next(tower.parameters()).device)
        features["sentence_embedding"] = tower(papers)
        return features


def _sentences(text: str | Sequence[str]) -> list[str]:
    return split_sentences(clean_characters(text)) if isinstance(text, str) else list(text)
