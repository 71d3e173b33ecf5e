"""``rerank``: runs -> a better run per split.

The runs may come from any retriever or reranker, also of another machine; a query they lack has no
papers to rerank.
"""

import functools
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.corpus.tasks import TASKS
from mpbert.foundation.config import (
    check_least,
    from_settings,
    option,
    paths_in,
    positional,
    resolve_settings,
)
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.manifest import beside, check_inputs, is_finished, output_directory
from mpbert.foundation.training_log import for_tensorboard
from mpbert.methods.reranking import RERANKERS, Reranker

if TYPE_CHECKING:  # what --help need not wait for
    import numpy as np

    from mpbert.corpus.queries import Queries
    from mpbert.corpus.store import CorpusStore
    from mpbert.methods.rankings import Ranking


@dataclass(frozen=True)
class Config:
    """Rank anew what runs have ranked; learn how from training or validation queries."""

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "directory of runs to write: valid.run, test.run")
    runs: list[Path] = option((), "directories of runs to rerank, one or more", nargs="+")
    training: Optional[Path] = option(
        None, "directory of a train.run to learn from, where the reranker does"
    )
    reranker: str = option("fusion", "which one", choices=RERANKERS.names())
    settings: list[str] = option((), "settings of the reranker, for example depth=50", nargs="*")
    task: str = option("local", "runs of contexts, or of whole papers (global)", choices=TASKS)
    splits: list[str] = option(
        ("valid", "test"), "splits to rerank", nargs="+", choices=["test", "valid"]
    )
    top: int = option(100, "papers kept per query")
    scored_by: Optional[Path] = option(
        None, "vectors directory of the run, to score papers that it lacks, where the reranker does"
    )
    seed: int = option(1, "seed of every random choice")
    sample: Optional[int] = option(
        None, "rerank for a fixed random sample of so many queries of each split; without it, all"
    )

    def __post_init__(self) -> None:
        """Check what argparse cannot; put the default settings beside the given ones."""
        method = RERANKERS[self.reranker]
        fewest, most = method.num_inputs
        if not fewest <= len(self.runs) <= most:
            wanted = f"{fewest}" if fewest == most else f"{fewest} or more"
            raise ConfigError(
                f"--runs: found {len(self.runs)}; {self.reranker} takes {wanted}, "
                f"directories of valid.run and test.run"
            )
        settings = resolve_settings(method, self.settings, self.reranker)
        learns_from = from_settings(method, settings, self.reranker).learns_from
        if (self.training is not None) != (learns_from == "train"):
            need = (
                "needs --training, a directory with train.run"
                if self.training is None
                else ("does not learn from training lists; leave --training out")
            )
            raise ConfigError(f"{self.reranker} {need}")
        if self.scored_by and not method.takes_vectors:
            raise ConfigError(
                f"--scored-by: {self.reranker} scores no further papers; leave it out"
            )
        check_least(self, top=1, sample=1)
        object.__setattr__(self, "settings", settings)


def run(config: Config) -> None:
    """Write ``SPLIT.run`` for each split, and what the reranker keeps.

    :raises RunError: a run is missing, malformed or of another corpus.
    :raises CorpusError: the corpus lacks what the reranker reads.
    """
    from mpbert.corpus.store import CorpusStore
    from mpbert.corpus.trec import run_of_lists, write_run
    from mpbert.foundation.seeding import named_rng

    inputs = inputs_of(config)
    if is_finished(config.output, "rerank", config, inputs):
        shutil.rmtree(_checkpoint_path(config), ignore_errors=True)
        print(f"{config.output} exists, reused")
        return
    check_inputs(_files_of(config))
    reranker = from_settings(RERANKERS[config.reranker], config.settings, config.reranker)
    reranker.checkpoint = _checkpoint_path(config)
    reranker.input_names = [place.name for place in config.runs]
    store = CorpusStore(config.corpus)
    reranker.check(store)
    reranked = {  # read before anything is learnt, which may take an hour
        split: _of_split(store, config, split) for split in sorted(set(config.splits))
    }
    with output_directory(config.output, "rerank", config, inputs) as out:
        with for_tensorboard(config.output, goes_on=reranker.checkpoint.exists()):
            rng = named_rng(config.seed, f"rerank {config.reranker}")
            out.counts.update(reranker.prepare(store, rng))
            out.counts.update(_fit(reranker, store, config, rng))
        for split, (queries, rankings) in reranked.items():
            if config.scored_by:
                from mpbert.retrieval.vector_search import VectorSearch  # faiss

                search = VectorSearch(store, config.scored_by, config.task)
                reranker.score_pairs = functools.partial(search.scores_of, queries, split)
            found = reranker.rerank(store, queries, rankings)
            found = found.first(config.top)
            ranked = run_of_lists(queries.query_ids, store.paper_ids, found.rows, found.scores)
            write_run(out.path / f"{split}.run", ranked, config.output.name)
            out.counts[f"queries_{split}"] = len(queries)
            out.counts[f"queries_without_papers_{split}"] = int((found.rows[:, 0] < 0).sum())
            print(f"{split}: {len(queries):,} queries reranked by {config.reranker}")
        reranker.save(out.path)
    shutil.rmtree(reranker.checkpoint, ignore_errors=True)


def _checkpoint_path(config: Config) -> Path:
    return beside(config.output, "checkpoint")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    others = [place for place in (config.training, config.scored_by) if place]
    return [config.corpus, *config.runs, *others, *paths_in(config.settings)]


def _files_of(config: Config) -> list[Path]:
    """Return what is read: of the runs, those of the splits, as others may be large."""
    runs = [place / f"{split}.run" for place in config.runs for split in config.splits]
    training = [config.training / "train.run"] if config.training else []
    vectors = [config.scored_by] if config.scored_by else []
    return [config.corpus, *runs, *training, *vectors, *paths_in(config.settings)]


def _fit(
    reranker: Reranker, store: "CorpusStore", config: Config, rng: "np.random.Generator"
) -> dict[str, int]:
    """Learn from the queries that repeat no other."""
    import numpy as np

    split = reranker.learns_from
    if not split:
        return {}
    queries = store.queries(split, config.task)
    if not len(queries):
        raise CorpusError(
            f"{config.corpus}: has no {split} queries; expected some, as {config.reranker} learns "
            f"from them: choose settings or a reranker that learn from none or from others"
        )
    places = [config.training] if config.training else config.runs
    rankings = _read(store, queries, places, split)
    if queries.is_repeat.any():
        distinct = np.flatnonzero(~queries.is_repeat)
        queries, rankings = queries.take(distinct), [each.take(distinct) for each in rankings]
    return reranker.fit(store, queries, rankings, rng)


def _of_split(store: "CorpusStore", config: Config, split: str) -> "tuple[Queries, list[Ranking]]":
    """Return the queries of a split, or the sample of them, and what the runs ranked for these."""
    from mpbert.corpus.queries import fixed_sample

    queries = store.queries(split, config.task)
    places = fixed_sample(queries, config.sample)
    rankings = _read(store, queries, config.runs, split)
    return queries.take(places), [ranking.take(places) for ranking in rankings]


def _read(
    store: "CorpusStore", queries: "Queries", places: Sequence[Path], split: str
) -> "list[Ranking]":
    from mpbert.corpus.trec import matrices_of_run, read_run
    from mpbert.methods.rankings import Ranking

    rankings = []
    for place in places:
        path = place / f"{split}.run"
        ranked = read_run(path, may_be_empty=not len(queries))
        rankings.append(
            Ranking(*matrices_of_run(ranked, queries.query_ids, store.paper_ids, str(path)))
        )
    return rankings
