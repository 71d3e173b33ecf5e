"""``retrieve``: vectors or words -> a TREC run per split, over all papers of the corpus.

Queries are citation contexts (task ``local``) or whole papers by title and abstract (``global``).

The citing paper itself is no candidate for its own queries: it is known, and never relevant.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np

from mpbert.corpus.fields import paper_counts, query_texts, split_fields
from mpbert.corpus.splits import SPLITS
from mpbert.corpus.store import TASKS, CorpusStore, Queries
from mpbert.corpus.trec import run_of_matrix, write_run
from mpbert.foundation.config import from_settings, option, positional, resolve_settings
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import check_inputs, is_finished, output_directory
from mpbert.methods.lexical.index import LEXICAL, LexicalIndex
from mpbert.retrieval.approximate import ApproximateIndex
from mpbert.retrieval.dense import SIMILARITIES, DenseIndex
from mpbert.vectors.store import VectorStore, check_ids, vectors_name

logger = logging.getLogger(__name__)
Search = Callable[[Queries, str], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Config:
    """Rank all papers of the corpus for every citation context of a split."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "directory of runs to write: valid.run, test.run")
    vectors: Optional[Path] = option(
        None, "vectors directory to search; or give --lexical", type=Path
    )
    similarity: str = option("cosine", "similarity of vectors", choices=SIMILARITIES)
    dim: Optional[int] = option(
        None, "use the first numbers of each vector, see --nested-dims of finetune", type=int
    )
    approximate: bool = option(
        False, "search a part of the vectors; 98 of the 100 nearest are found"
    )
    lexical: Optional[str] = option(None, "rank by words, without vectors", choices=LEXICAL.names())
    settings: list[str] = option(
        (),
        "settings of the lexical method, for example fields=abstract+citing k1=1.2",
        nargs="*",
        type=str,
    )
    task: str = option("local", "rank for contexts, or for whole papers (global)", choices=TASKS)
    splits: list[str] = option(
        ("valid", "test"), "splits to rank for", nargs="+", choices=SPLITS, type=str
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
        if self.dim is not None and self.vectors is None:
            raise ConfigError("--dim is of vectors; a lexical method has none, leave it out")
        if self.approximate and self.vectors is None:
            raise ConfigError(
                "--approximate is of vectors; a lexical method has none, leave it out"
            )
        if self.top < 1:
            raise ConfigError(f"--top is {self.top}; expected 1 or more")
        if self.lexical:  # with the defaults in force: a new default is a new run
            settings = resolve_settings(LEXICAL[self.lexical], self.settings, self.lexical)
            object.__setattr__(self, "settings", settings)
            fields = from_settings(LEXICAL[self.lexical], settings, self.lexical).fields
            if "train" in self.splits and "citing" in split_fields(fields):
                raise ConfigError(
                    f"--splits train: fields={fields} holds the training contexts themselves, "
                    f"which would find what they cite; expected abstract or text"
                )


def run(config: Config) -> None:
    """Write ``SPLIT.run`` for each split; the tag of its lines is the output's name."""
    inputs = inputs_of(config)
    if is_finished(config.output, "retrieve", config, inputs):
        print(f"{config.output} exists, reused")
        return
    check_inputs(inputs)
    store = CorpusStore(config.corpus)
    search = _lexical(store, config) if config.lexical else _dense(store, config)
    with output_directory(config.output, "retrieve", config, inputs) as out:
        out.counts["papers"] = store.num_papers
        for split in sorted(set(config.splits)):
            queries = store.queries(split, config.task)
            rows, scores = search(queries, split)
            ranked = run_of_matrix(queries.query_ids, store.paper_ids, rows, scores)
            write_run(out.path / f"{split}.run", ranked, config.output.name)
            out.counts[f"queries_{split}"] = len(queries)
            out.counts[f"citing_papers_excluded_{split}"] = len(queries)
            print(f"{split}: {len(queries):,} queries, {store.num_papers:,} papers")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [path for path in (config.corpus, config.vectors) if path is not None]


def _lexical(store: CorpusStore, config: Config) -> Search:
    method = from_settings(LEXICAL[config.lexical], config.settings, config.lexical)
    counts, vocabulary = paper_counts(store, method.fields, stemmed=True)
    index = LexicalIndex(method, counts, vocabulary)

    def search(queries: Queries, split: str) -> tuple[np.ndarray, np.ndarray]:
        texts = query_texts(store, queries, method.citing_weight, method.query)
        if split != "train":
            return index.search(texts, config.top, queries.citing_rows)
        pool, own = _training_pool(store, queries)
        rows, scores = LexicalIndex(method, counts[pool], vocabulary).search(texts, config.top, own)
        return pool[rows], scores

    return search


def _training_pool(store: CorpusStore, queries: Queries) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of training papers, which alone are learnt from, and places of citing ones."""
    pool = np.flatnonzero(store.paper_splits == "train")
    return pool, np.searchsorted(pool, queries.citing_rows)


def _dense(store: CorpusStore, config: Config) -> Search:
    training = config.vectors / f"{vectors_name(config.task, 'train')}.npy"
    if "train" in config.splits and not training.exists():
        raise ConfigError(
            f"--splits train: these vectors have no training queries, there is no {training}; give "
            f"--lexical, to make training lists for a reranker"
        )
    papers = VectorStore.load(config.vectors, "papers").first(config.dim)
    check_ids(papers, store.paper_ids, str(config.vectors / "papers"))
    kind = ApproximateIndex if config.approximate else DenseIndex
    index = kind(papers.vectors, config.similarity)

    def search(queries: Queries, split: str) -> tuple[np.ndarray, np.ndarray]:
        name = vectors_name(config.task, split)
        found = VectorStore.load(config.vectors, name).first(config.dim)
        check_ids(found, queries.query_ids, str(config.vectors / name))
        if split != "train":
            return index.search(found.vectors, config.top, queries.citing_rows)
        pool, own = _training_pool(store, queries)
        index_of_pool = kind(papers.vectors[pool], config.similarity)
        rows, scores = index_of_pool.search(found.vectors, config.top, own)
        return pool[rows], scores

    return search
