"""``retrieve``: vectors or words -> a TREC run per split, over the papers of a pool.

Queries are citation contexts (task ``local``) or whole papers by title and abstract (``global``).

Candidates are the papers of the manuscript's year or earlier, or all. The citing paper itself is no
candidate for its own queries: it is known, and never relevant.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.corpus.queries import fixed_sample
from mpbert.corpus.splits import SPLITS
from mpbert.corpus.store import TASKS, CorpusStore, Queries
from mpbert.corpus.trec import run_of_lists, write_run
from mpbert.foundation.config import from_settings, option, positional, resolve_settings
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import check_inputs, is_finished, output_directory
from mpbert.methods.lexical.index import LEXICAL
from mpbert.methods.lexical.search import LexicalSearch, check_fields
from mpbert.retrieval.cited import check_held_out, search_first, search_with_cited
from mpbert.retrieval.dense import SIMILARITIES
from mpbert.retrieval.pool import num_candidates, pool_option
from mpbert.retrieval.stores.urls import checked_url, store_option

if TYPE_CHECKING:
    from mpbert.retrieval.vector_search import VectorSearch


@dataclass(frozen=True)
class Config:
    """Rank papers of the corpus for every citation context of a split."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "directory of runs to write: valid.run, test.run")
    vectors: Optional[Path] = option(
        None, "vectors directory to search; or give --lexical", type=Path
    )
    similarity: str = option("cosine", "similarity of vectors", choices=SIMILARITIES)
    dim: Optional[int] = option(None, "use the first dimensions of each vector", type=int)
    approximate: bool = option(
        False, "search a part of the vectors; 98 of the 100 nearest are found"
    )
    store: str = store_option()
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
    pool: str = pool_option()
    sample: Optional[int] = option(
        None, "rank for a fixed random sample of so many queries of each split; none: all", type=int
    )
    add_cited: bool = option(
        False,
        "add cited papers that a list misses, with their scores; for lists to learn from, of a "
        "corpus of hold-out",
    )

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
        if self.store and (self.approximate or self.vectors is None):
            given = "--approximate" if self.approximate else "--lexical"
            raise ConfigError(f"--store searches vectors; leave {given} or --store out")
        if self.store:
            checked_url(self.store)
        if self.top < 1:
            raise ConfigError(f"--top is {self.top}; expected 1 or more")
        if self.sample is not None and self.sample < 1:
            raise ConfigError(f"--sample is {self.sample}; expected 1 or more, or leave it out")
        if self.lexical:  # with the defaults in force: a new default is a new run
            settings = resolve_settings(LEXICAL[self.lexical], self.settings, self.lexical)
            object.__setattr__(self, "settings", settings)
            check_fields(from_settings(LEXICAL[self.lexical], settings, self.lexical), self.splits)


def run(config: Config) -> None:
    """Write ``SPLIT.run`` for each split; the tag of its lines is the output's name."""
    inputs = inputs_of(config)
    if is_finished(config.output, "retrieve", config, inputs):
        print(f"{config.output} exists, reused")
        return
    check_inputs(inputs)
    store = CorpusStore(config.corpus)
    if config.add_cited:
        check_held_out(config.corpus)
    index = _index_of(store, config)
    with output_directory(config.output, "retrieve", config, inputs) as out:
        out.counts["papers"] = store.num_papers
        for split in sorted(set(config.splits)):
            queries = store.queries(split, config.task)
            queries = queries.take(fixed_sample(queries, config.sample))
            search = search_with_cited if config.add_cited else search_first
            rows, scores = search(index, queries, split, config.top)
            ranked = run_of_lists(queries.query_ids, store.paper_ids, rows, scores)
            write_run(out.path / f"{split}.run", ranked, config.output.name)
            out.counts[f"queries_{split}"] = len(queries)
            out.counts[f"citing_papers_excluded_{split}"] = len(queries)
            out.counts[f"newer_papers_excluded_{split}"] = _num_newer(store, queries, config.pool)
            print(f"{split}: {len(queries):,} queries, {store.num_papers:,} papers")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [path for path in (config.corpus, config.vectors) if path is not None]


def _index_of(store: CorpusStore, config: Config) -> "LexicalSearch | VectorSearch":
    if config.lexical:
        method = from_settings(LEXICAL[config.lexical], config.settings, config.lexical)
        return LexicalSearch(store, method, config.pool)
    from mpbert.retrieval.vector_search import VectorSearch, check_training_queries  # faiss

    check_training_queries(config.vectors, config.task, config.splits)
    return VectorSearch(
        store,
        config.vectors,
        config.task,
        config.similarity,
        config.dim,
        config.approximate,
        config.pool,
        config.store,
    )


def _num_newer(store: CorpusStore, queries: Queries, pool: str) -> int:
    """Return how many papers are no candidates because of their year, over all queries."""
    counts = num_candidates(store.years, queries.years, pool)
    return int((store.num_papers - 1 - counts).sum())
