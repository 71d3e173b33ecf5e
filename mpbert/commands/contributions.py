"""``contributions``: what each sentence of a manuscript contributes to finding what it cites."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.corpus.binary import BinaryCorpus
from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError, EncoderError
from mpbert.foundation.manifest import check_inputs
from mpbert.model.reading import Reading
from mpbert.vectors.store import VectorStore, check_ids, check_made_with


@dataclass(frozen=True)
class Config:
    """Leave sentences out of the manuscripts, one at a time, and see what is still found."""

    data: Path = positional("data", "binary corpus to read")
    encoder: Path = positional("encoder", "encoder directory")
    vectors: Path = positional("vectors", "vectors of the papers, made by embed with this encoder")
    sentence_vectors: Optional[Path] = option(
        None, "of mpbert embed-sentences, where the encoder was trained with them", type=Path
    )
    split: str = option(
        "test", "split whose contexts are read, without repeats", choices=["test", "valid"]
    )
    contexts: int = option(2000, "most contexts to read, evenly spaced over the split")
    seed: int = option(1, "seed of the reading")
    device: str = option("auto", "cpu, cuda or auto")

    def __post_init__(self) -> None:
        if self.contexts < 1:
            raise ConfigError(f"--contexts {self.contexts}; expected 1 or more")


def run(config: Config) -> None:
    """Print Markdown: a line for each kind of sentence.

    :raises ConfigError: the split has no context.
    :raises EncoderError: the encoder counts exact matches.
    :raises VectorsError: the vectors are not those of the papers of ``data``.
    """
    from mpbert.experiments.contributions import contributions
    from mpbert.model.description import check_same_tokenizer, read_description
    from mpbert.model.directory import load_two_tower, pick_device
    from mpbert.model.embedding import embed_sampled
    from mpbert.model.sentences import sentences_of

    check_inputs([config.data, config.encoder, config.vectors])
    corpus = BinaryCorpus(config.data)
    contexts = corpus.contexts(config.split)
    if not len(contexts):
        raise ConfigError(f"{config.data}: no context in split {config.split!r}; choose another")
    papers = VectorStore.load(config.vectors, "papers")
    check_ids(papers, corpus.paper_ids, str(config.vectors))
    check_same_tokenizer(config.encoder, config.data)
    description = read_description(config.encoder)
    if description.model.lexical.exact_matches:
        raise EncoderError(
            f"{config.encoder}: counts exact matches of tokens beside its vectors, which this does "
            f"not take apart; expected an encoder without exact_matches"
        )
    check_made_with(config.vectors, papers.dim, config.encoder, description.model.vector_dim)
    tower = load_two_tower(config.encoder).eval().to(pick_device(config.device)).manuscript
    source = sentences_of(corpus, description.model.upper, config.sentence_vectors)
    embed = functools.partial(embed_sampled, tower, source=source, batch_tokens=16384)
    reading = Reading(description.reading, config.seed)
    for line in contributions(corpus, contexts, reading, embed, papers.vectors, config.contexts):
        print(line)
