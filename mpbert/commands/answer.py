"""``answer``: corpus store and index -> a TREC run per split, as the index answers.

Each citation context is asked by the code of ``recommend`` and ``serve``: the manuscript is the
paper's own text, the place is the citing sentence. A whole paper (task ``global``) is asked by its
title and abstract. The citing paper itself is no candidate. How sure the answers are stands beside
the run, see :mod:`mpbert.corpus.answer_confidence`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.corpus.tasks import TASKS
from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.manifest import is_reused, output_directory
from mpbert.retrieval.options import pool_option


@dataclass(frozen=True)
class Config:
    """Rank papers for every context, or every whole paper, of a split as an index answers."""

    corpus: Path = positional("corpus", "corpus store to read")
    index: Path = positional("index", "index that build-index made of this corpus")
    output: Path = positional(
        "output", "directory of runs to write: valid.run, test.run, and how sure each answer is"
    )
    splits: list[str] = option(
        ("valid", "test"), "splits to rank for", nargs="+", choices=["test", "valid"]
    )
    task: str = option("local", "rank for contexts, or for whole papers (global)", choices=TASKS)
    top: int = option(100, "papers ranked per query")
    pool: str = pool_option()
    sample: Optional[int] = option(
        None, "rank for a fixed random sample of so many queries of each split; without it, all"
    )

    def __post_init__(self) -> None:
        check_least(self, top=1, sample=1)


def run(config: Config) -> None:
    """Write ``SPLIT.run`` for each split; the tag of its lines is the output's name.

    :raises IndexFormatError: the index is not of this corpus, or was changed since it was built.
    """
    from mpbert.corpus.answer_confidence import write_confidence
    from mpbert.corpus.queries import fixed_sample
    from mpbert.corpus.store import CorpusStore
    from mpbert.corpus.trec import run_of_lists, write_run
    from mpbert.recommending.contexts import IndexSearch

    inputs = inputs_of(config)
    if is_reused(config.output, "answer", config, inputs):
        return
    store = CorpusStore(config.corpus)
    search = IndexSearch(store, config.index, config.splits, config.pool)
    with output_directory(config.output, "answer", config, inputs) as out:
        for split in sorted(set(config.splits)):
            queries = store.queries(split, config.task)
            queries = queries.take(fixed_sample(queries, config.sample))
            found, sure = search.search(queries, split, config.top)
            ranked = run_of_lists(queries.query_ids, store.paper_ids, found.rows, found.scores)
            write_run(out.path / f"{split}.run", ranked, config.output.name)
            if sure is not None:
                write_confidence(out.path / f"{split}.run", queries.query_ids, sure)
            out.counts[f"queries_{split}"] = len(queries)
            print(f"{split}: {len(queries):,} queries answered from {store.num_papers:,} papers")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [config.corpus, config.index]
