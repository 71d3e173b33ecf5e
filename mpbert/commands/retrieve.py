"""``retrieve``: vectors or words -> a TREC run per split, over the papers of a pool.

Queries are citation contexts (task ``local``) or whole papers by title and abstract (``global``).

Candidates are the papers of the manuscript's year or earlier, or all. The citing paper itself is no
candidate for its own queries: it is known, and never relevant.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.corpus.splits import SPLITS
from mpbert.corpus.tasks import TASKS
from mpbert.foundation.config import (
    check_least,
    from_settings,
    option,
    positional,
    resolve_settings,
)
from mpbert.foundation.engine_choice import OWN, engine_of, engine_option
from mpbert.foundation.engines import Job, Maker
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.extras import check_installed
from mpbert.foundation.manifest import is_reused, output_directory
from mpbert.foundation.parts import Arrays, parts_of
from mpbert.foundation.progress import progress
from mpbert.methods.lexical.method import LEXICAL
from mpbert.retrieval.options import SIMILARITIES, check_known, known_option, pool_option
from mpbert.retrieval.stores.urls import store_option

if TYPE_CHECKING:  # what --help need not wait for
    import numpy as np

    from mpbert.corpus.queries import Queries
    from mpbert.corpus.store import CorpusStore
    from mpbert.methods.lexical.search import DiskSearch, LexicalSearch
    from mpbert.retrieval.vector_search import VectorSearch

BLOCK = 4096  # queries of a part


@dataclass(frozen=True)
class Config:
    """Rank papers of the corpus for every citation context of a split."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "directory of runs to write: valid.run, test.run")
    vectors: Optional[Path] = option(None, "vectors directory to search; or give --lexical")
    similarity: str = option("cosine", "similarity of vectors", choices=SIMILARITIES)
    dim: Optional[int] = option(None, "use the first dimensions of each vector")
    approximate: bool = option(
        False,
        "search a part of the vectors, about 98 of the 100 nearest are found; or, with --lexical "
        "bm25, words on disk, which takes less memory and misses some papers",
    )
    store: str = store_option()
    lexical: Optional[str] = option(None, "rank by words, without vectors", choices=LEXICAL.names())
    settings: list[str] = option(
        (), "settings of the lexical method, for example fields=abstract+citing k1=1.2", nargs="*"
    )
    task: str = option("local", "rank for contexts, or for whole papers (global)", choices=TASKS)
    splits: list[str] = option(("valid", "test"), "splits to rank for", nargs="+", choices=SPLITS)
    known: list[str] = known_option()
    top: int = option(100, "papers ranked per query")
    pool: str = pool_option()
    sample: Optional[int] = option(
        None, "rank for a fixed random sample of so many queries of each split; without it, all"
    )
    add_cited: bool = option(
        False,
        "add cited papers that a list misses, with their scores; for lists that a reranker learns "
        "from, see hold-out",
    )
    engine: str = engine_option()

    def __post_init__(self) -> None:
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
        if self.approximate and self.lexical not in (None, "bm25"):
            raise ConfigError(
                f"--approximate: found --lexical {self.lexical}; expected bm25, whose words can be "
                f"on disk, or leave it out"
            )
        if self.approximate and self.lexical and self.add_cited:
            raise ConfigError(
                "--add-cited ranks all papers, and --approximate a part of them; leave one out"
            )
        if self.store and (self.approximate or self.vectors is None):
            given = "--approximate" if self.approximate else "--lexical"
            raise ConfigError(f"--store searches vectors; leave {given} or --store out")
        if self.approximate and self.engine != OWN:
            raise ConfigError(
                f"--approximate: the index that it makes stays on one machine; leave it out, or "
                f"--engine {self.engine}"
            )
        check_least(self, top=1, sample=1)
        if self.lexical:  # with the defaults in force: a new default is a new run
            from mpbert.corpus.fields import split_fields

            settings = resolve_settings(LEXICAL[self.lexical], self.settings, self.lexical)
            object.__setattr__(self, "settings", settings)
            method = from_settings(LEXICAL[self.lexical], settings, self.lexical)
            if "citing" in split_fields(method.fields):
                check_known(self.known, self.splits)
        elif tuple(self.known) != ("train",):
            raise ConfigError("--known is of words; for vectors give it to mpbert embed")


def run(config: Config) -> None:
    """Write ``SPLIT.run`` for each split; the tag of its lines is the output's name."""
    import numpy as np

    from mpbert.corpus.store import CorpusStore
    from mpbert.corpus.trec import run_of_lists, write_run
    from mpbert.retrieval.cited import check_held_out, stacked

    inputs = inputs_of(config)
    if is_reused(config.output, "retrieve", config, inputs):
        return
    if config.lexical and config.approximate:
        check_installed("tantivy")
    store = CorpusStore(config.corpus)
    if config.add_cited:
        check_held_out(config.corpus)
    work = _Ranking(config.corpus, config.vectors, config)
    with (
        output_directory(config.output, "retrieve", config, inputs) as out,
        engine_of(config.engine) as engine,
    ):
        out.counts["papers"] = store.num_papers
        for split in sorted(set(config.splits)):
            queries = _queries(store, config, split)
            parts = parts_of(config.output, split, "retrieve", config, inputs)
            whole = config.approximate and config.vectors  # all queries choose the lists
            places = _by_year(queries, len(queries) if whole else BLOCK)
            found = engine.results(work, [(split, block) for block in places], parts)
            found = progress(found, f"retrieve {split}", "block", len(places))
            rows, scores = stacked([(part["rows"], part["scores"]) for part in found])
            order = np.argsort(np.concatenate(places))
            ranked = run_of_lists(queries.query_ids, store.paper_ids, rows[order], scores[order])
            write_run(out.path / f"{split}.run", ranked, config.output.name)
            out.counts[f"queries_{split}"] = len(queries)
            out.counts[f"citing_papers_excluded_{split}"] = len(queries)
            out.counts[f"newer_papers_excluded_{split}"] = _num_newer(store, queries, config.pool)
            print(f"{split}: {len(queries):,} queries, {store.num_papers:,} papers")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [path for path in (config.corpus, config.vectors) if path is not None]


def _queries(store: "CorpusStore", config: Config, split: str) -> "Queries":
    from mpbert.corpus.queries import fixed_sample

    queries = store.queries(split, config.task)
    return queries.take(fixed_sample(queries, config.sample))


def _by_year(queries: "Queries", size: int) -> "list[np.ndarray]":
    """Return places of queries, at most so many together; those of a year have the same papers."""
    import numpy as np

    order = np.argsort(queries.years, kind="stable")
    return [order[start : start + size] for start in range(0, max(len(order), 1), size)]


@dataclass(frozen=True)
class _Ranking(Job):
    """From (split, places of queries) to the ``rows`` and ``scores`` of their lists."""

    corpus: Path
    vectors: Optional[Path]
    config: Config  # the paths in it may be those of another machine

    def open(self) -> Maker:
        from mpbert.corpus.store import CorpusStore
        from mpbert.retrieval.cited import search_with_cited

        config = replace(self.config, corpus=self.corpus, vectors=self.vectors)
        store = CorpusStore(config.corpus, config.known)
        index = _index_of(store, config)
        search = partial(search_with_cited, index.search) if config.add_cited else index.search

        def make(item: "tuple[str, np.ndarray]") -> Arrays:
            split, places = item
            queries = _queries(store, config, split).take(places)
            rows, scores = search(queries, split, config.top)
            return {"rows": rows, "scores": scores}

        return make


def _index_of(store: "CorpusStore", config: Config) -> "DiskSearch | LexicalSearch | VectorSearch":
    if config.lexical:
        from mpbert.methods.lexical.search import DiskSearch, LexicalSearch

        method = from_settings(LEXICAL[config.lexical], config.settings, config.lexical)
        return (DiskSearch if config.approximate else LexicalSearch)(store, method, config.pool)
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


def _num_newer(store: "CorpusStore", queries: "Queries", pool: str) -> int:
    """Return how many papers are no candidates because of their year, over all queries."""
    from mpbert.retrieval.pool import num_candidates

    counts = num_candidates(store.years, queries.years, pool)
    return int((store.num_papers - 1 - counts).sum())
