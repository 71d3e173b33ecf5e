"""``contributions``: what each sentence of a manuscript contributes to finding what it cites."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError, CorpusError, EncoderError
from mpbert.foundation.manifest import check_inputs
from mpbert.retrieval.options import pool_option

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.corpus.binary import BinaryCorpus
    from mpbert.corpus.store import CorpusStore


@dataclass(frozen=True)
class Config:
    """Leave sentences out of the manuscripts, one at a time, and see what is still found."""

    corpus: Path = positional("corpus", "corpus store, which knows the years of the papers")
    data: Path = positional("data", "binary corpus of it, to read")
    encoder: Path = positional("encoder", "encoder directory")
    vectors: Path = positional("vectors", "vectors of the papers, made by embed with this encoder")
    sentence_vectors: Optional[Path] = option(
        None, "of mpbert embed-sentences, where the encoder was trained with them"
    )
    split: str = option(
        "test", "split whose contexts are read, without repeats", choices=["test", "valid"]
    )
    pool: str = pool_option()
    contexts: int = option(2000, "most contexts to read, evenly spaced over the split")
    seed: int = option(1, "seed of the reading")
    device: str = option("auto", "cpu, cuda or auto")

    def __post_init__(self) -> None:
        check_least(self, contexts=1)


def run(config: Config) -> None:
    """Print Markdown: a line for each kind of sentence.

    :raises ConfigError: the split has no context.
    :raises CorpusError: the binary corpus is not that of the corpus store.
    :raises EncoderError: the encoder counts exact matches.
    :raises VectorsError: the vectors are not those of the papers of ``data``.
    """
    from mpbert.corpus.binary import BinaryCorpus
    from mpbert.corpus.store import CorpusStore
    from mpbert.experiments.contributions import contributions, searched_by_year
    from mpbert.model.description import check_same_tokenizer, read_description
    from mpbert.model.directory import load_two_tower, pick_device
    from mpbert.model.embedding import embed_sampled
    from mpbert.model.reading import Reading
    from mpbert.model.sentences import sentences_of
    from mpbert.retrieval.pool import candidates_by_year
    from mpbert.vectors.store import VectorStore, check_ids, check_made_with

    check_inputs([config.corpus, config.data, config.encoder, config.vectors])
    store, corpus = CorpusStore(config.corpus), BinaryCorpus(config.data)
    _check_same_corpus(store, corpus, config.split)
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
    device, upper = pick_device(config.device), description.model.upper
    tower = load_two_tower(config.encoder).eval().to(device).manuscript
    source = sentences_of(corpus, upper, config.sentence_vectors, config.encoder, device)
    embed = functools.partial(embed_sampled, tower, source=source, batch_tokens=16384)
    reading = Reading(description.reading, config.seed)
    candidates = candidates_by_year(store, store.contexts(config.split), config.split, config.pool)
    search = searched_by_year(papers.vectors, contexts.citing_rows, candidates)
    for line in contributions(corpus, contexts, reading, embed, search, config.contexts):
        print(line)


def _check_same_corpus(store: "CorpusStore", corpus: "BinaryCorpus", split: str) -> None:
    """Check that rows of papers and contexts mean the same in both.

    :raises CorpusError: they do not.
    """
    same_contexts = corpus.context_ids(split) == store.contexts(split).query_ids
    if corpus.paper_ids != store.paper_ids or not same_contexts:
        raise CorpusError(
            f"{corpus.path}: found other papers or contexts than those of {store.path}; expected "
            f"what mpbert binarize makes of this corpus store"
        )
