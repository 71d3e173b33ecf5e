"""``retrieve``: vectors or words -> a TREC run per split, over all papers of the corpus.

The citing paper itself is no candidate for its own queries: it is known, and never relevant.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np

from mpbert.config import from_settings, option, positional, resolve_settings
from mpbert.data.fields import paper_counts, query_texts
from mpbert.data.store import Contexts, CorpusStore
from mpbert.data.trec import run_of_matrix, write_run
from mpbert.errors import ConfigError
from mpbert.manifest import is_finished, output_directory
from mpbert.retrieval.dense import SIMILARITIES, DenseIndex
from mpbert.retrieval.lexical import LEXICAL, LexicalIndex
from mpbert.vectors.store import VectorStore, check_ids

logger = logging.getLogger(__name__)
Search = Callable[[Contexts, str], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Config:
    """Rank all papers of the corpus for every citation context of a split."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "directory of runs to write: valid.run, test.run")
    vectors: Optional[Path] = option(None, "vectors directory to search", type=Path)
    similarity: str = option("cosine", "of vectors", choices=SIMILARITIES)
    lexical: Optional[str] = option(None, "or: lexical method", choices=LEXICAL.names())
    settings: list[str] = option(
        (), "settings of it, for example fields=abstract+citing k1=1.2", nargs="*", type=str
    )
    splits: list[str] = option(
        ("valid", "test"), "splits to rank for", nargs="+", choices=["test", "valid"], type=str
    )
    top: int = option(100, "papers ranked per query")

    def __post_init__(self) -> None:
        """Check what argparse cannot."""
        if (self.vectors is None) == (self.lexical is None):
            raise ConfigError("expected one of --vectors and --lexical; give the one to search")
        if self.settings and self.lexical is None:
            raise ConfigError("--settings are of a lexical method; vectors have none, leave it out")
        if self.similarity != "cosine" and self.vectors is None:
            raise ConfigError(
                "--similarity is of vectors; a lexical method has its own, leave it out"
            )
        if self.top < 1:
            raise ConfigError(f"--top is {self.top}; expected 1 or more")
        if self.lexical:  # with the defaults in force: a new default is a new run
            settings = resolve_settings(LEXICAL[self.lexical], self.settings, self.lexical)
            object.__setattr__(self, "settings", settings)


def run(config: Config) -> None:
    """Write ``SPLIT.run`` for each split; the tag of its lines is the output's name."""
    inputs = [path for path in (config.corpus, config.vectors) if path is not None]
    if is_finished(config.output, "retrieve", config, inputs):
        print(f"{config.output} exists, reused")
        return
    store = CorpusStore(config.corpus)
    search = _lexical(store, config) if config.lexical else _dense(store, config)
    with output_directory(config.output, "retrieve", config, inputs) as out:
        out.counts["papers"] = store.num_papers
        for split in sorted(set(config.splits)):
            contexts = store.contexts(split)
            rows, scores = search(contexts, split)
            ranked = run_of_matrix(contexts.context_ids, store.paper_ids, rows, scores)
            write_run(out.path / f"{split}.run", ranked, config.output.name)
            out.counts[f"queries_{split}"] = len(contexts)
            out.counts[f"citing_papers_excluded_{split}"] = len(contexts)
            print(f"{split}: {len(contexts):,} queries, {store.num_papers:,} papers")


def _lexical(store: CorpusStore, config: Config) -> Search:
    method = from_settings(LEXICAL[config.lexical], config.settings, config.lexical)
    index = LexicalIndex(method, *paper_counts(store, method.fields, stemmed=True))
    return lambda contexts, split: index.search(
        query_texts(store, contexts, method.citing_weight), config.top, contexts.citing_rows
    )


def _dense(store: CorpusStore, config: Config) -> Search:
    papers = VectorStore.load(config.vectors, "papers")
    check_ids(papers, store.paper_ids, str(config.vectors / "papers"))
    index = DenseIndex(papers.vectors, config.similarity)

    def search(contexts: Contexts, split: str) -> tuple[np.ndarray, np.ndarray]:
        name = f"contexts.{split}"
        queries = VectorStore.load(config.vectors, name)
        check_ids(queries, contexts.context_ids, str(config.vectors / name))
        return index.search(queries.vectors, config.top, contexts.citing_rows)

    return search
