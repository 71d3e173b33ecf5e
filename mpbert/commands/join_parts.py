"""``join-parts``: lists of held-out parts -> the lists of all training queries, ``train.run``."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.corpus.tasks import TASKS
from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError, RunError
from mpbert.foundation.manifest import is_reused, output_directory


@dataclass(frozen=True)
class Config:
    """Join what was ranked for held-out parts, for a reranker to learn from."""

    corpus: Path = positional("corpus", "corpus store to read, the whole one")
    output: Path = positional("output", "directory of runs to write: train.run")
    runs: list[Path] = option((), "directories with the test.run of each part", nargs="+")
    task: str = option("local", "runs of contexts, or of whole papers (global)", choices=TASKS)

    def __post_init__(self) -> None:
        if not self.runs:
            raise ConfigError("--runs: found none; expected the directory of each part")


def run(config: Config) -> None:
    """Write ``train.run``, of training papers alone.

    :raises RunError: a training query is ranked for in several of the parts.
    """
    import numpy as np

    from mpbert.corpus.store import CorpusStore
    from mpbert.corpus.trec import matrices_of_run, read_run, run_of_lists, write_run
    from mpbert.methods.rankings import Ranking, stacked

    inputs = inputs_of(config)
    if is_reused(config.output, "join-parts", config, inputs):
        return
    store = CorpusStore(config.corpus)
    queries = store.queries("train", config.task)
    lists, times = [], np.zeros(len(queries), dtype=np.int64)
    for place in config.runs:
        path = place / "test.run"
        found = read_run(path)
        lists.append(
            Ranking(*matrices_of_run(found, queries.query_ids, store.paper_ids, str(path)))
        )
        times += (lists[-1].rows >= 0).any(axis=1)
    if (times > 1).any():
        query = queries.query_ids[int(np.argmax(times))]
        raise RunError(
            f"{config.runs[0]}: training query {query!r} is ranked for in {times.max()} of these "
            f"runs; expected one of each part, made with mpbert hold-out"
        )
    ranking = stacked(lists)
    ranking = ranking.without((store.paper_splits != "train")[ranking.rows])
    with output_directory(config.output, "join-parts", config, inputs) as out:
        ranked = run_of_lists(queries.query_ids, store.paper_ids, ranking.rows, ranking.scores)
        write_run(out.path / "train.run", ranked, config.output.name)
        out.counts["queries_train"] = len(queries)
        out.counts["queries_without_papers_train"] = int((times == 0).sum())
    print(f"train: {len(queries):,} queries, {int((times == 0).sum()):,} of them without papers")


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [config.corpus, *config.runs]
