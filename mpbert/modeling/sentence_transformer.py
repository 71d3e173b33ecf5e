"""An encoder directory as a model of the library sentence-transformers.

``modules.json`` in the directory names the class here, so this works where mpbert is installed::

    model = SentenceTransformer(path, trust_remote_code=True)
    model.encode_document([["Title.", "First sentence.", "Second."], "A text of some sentences."])
    model.encode_query(["The sentence before. The one that cites. The one after."])

``encode`` is ``encode_document``: the citation tower; ``encode_query`` is the manuscript tower.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sentence_transformers.base.modules import InputModule
from tokenizers import Tokenizer

from mpbert.data.sampling import ABSTRACT, BODY, CITING, NEIGHBOUR
from mpbert.data.subwords import tokenize
from mpbert.data.text import clean_characters, split_sentences
from mpbert.modeling.encoder import (
    load_two_tower,
    read_config,
    read_tokenizer,
    sampling_of,
    save_encoder,
)
from mpbert.modeling.hierarchical import HierarchicalConfig, TwoTower
from mpbert.modeling.packing import pack


class TwoTowerModule(InputModule):
    """Both towers; an input is a text, or a list of sentences such as title, abstract and body.

    What is longer than the encoder was trained to read is cut off: a paper at its end, a
    manuscript at its beginning. ``embed`` draws sentences of long papers instead.
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
        inputs: Sequence[str | Sequence[str]],
        prompt: str | None = None,
        task: str | None = None,
        **_: object,
    ) -> dict[str, Any]:
        """Return a packed batch.

        :param prompt: is not used; the encoder was not trained with any.
        :param task: ``query`` for manuscripts; else papers.
        """
        is_query = task == "query"
        papers = [self._sentences_read(text, is_query) for text in inputs]
        sentences = [sentence for paper in papers for sentence in paper]
        tokens, lengths = tokenize(self.tokenizer, sentences, self._settings["max_tokens"])
        per_paper = np.array([len(paper) for paper in papers])
        roles = np.concatenate([self._roles(len(paper), is_query) for paper in papers])
        return {"papers": pack(tokens, lengths, per_paper, roles), "is_query": is_query}

    def _roles(self, num_sentences: int, is_query: bool) -> np.ndarray:
        """Return what the sentences of one text are read as.

        Of a manuscript the sentence before the last one cites, if there are three or more.
        """
        if is_query and num_sentences < 3:
            return np.full(num_sentences, CITING)
        roles = np.full(num_sentences, BODY)
        if is_query:
            roles[-3:] = NEIGHBOUR, CITING, NEIGHBOUR
        else:
            roles[: self._sampling.abstract_sentences] = ABSTRACT
        return roles

    def _sentences_read(self, text: str | Sequence[str], is_query: bool) -> list[str]:
        if isinstance(text, str):
            sentences = split_sentences(clean_characters(text)) or [""]
        else:
            sentences = list(text) or [""]
        if is_query:
            return sentences[-self._sampling.manuscript_sentences :]
        return sentences[: self._sampling.abstract_sentences + self._sampling.body_sentences]

    def forward(self, features: dict[str, Any], **_: object) -> dict[str, Any]:
        """Add ``sentence_embedding``, (B, D)."""
        tower = self.model.manuscript if features["is_query"] else self.model.citation
        papers = features["papers"].to(next(tower.parameters()).device)
        features["sentence_embedding"] = tower(papers)
        return features
