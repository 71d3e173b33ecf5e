"""``compare``: qrels and any runs -> their measures side by side, with intervals and tests."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mpbert.evaluation.compared import CLUSTERS, MEASURES
from mpbert.evaluation.side_by_side import FORMATS
from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import check_inputs

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    """Measure runs of the same queries, and test each against the best other one.

    A run is known by the name of its file, or of its folder where another file has that name.
    """

    qrels: Path = positional("qrels", "TREC qrels, such as qrels.test.txt of a corpus store")
    runs: list[Path] = positional("runs", "TREC runs to compare, of any program", nargs="+")
    measures: list[str] = option(
        MEASURES,
        "measures: Recall, P, F1, MAP, MRR or nDCG with a cutoff, or MRR of whole rankings",
        nargs="+",
    )
    cluster: str = option(
        "paper",
        "what intervals and tests take as a whole: all queries of a citing paper, or each query",
        choices=CLUSTERS,
    )
    seed: int = option(1, "seed of intervals and tests")
    format: str = option("text", "what to print", choices=sorted(FORMATS))


def run(config: Config) -> None:
    """Print the table.

    :raises ConfigError: a measure is unknown, or a run is given twice.
    :raises RunError: a file is malformed, or the qrels lack all queries of a run.
    """
    from mpbert.corpus.trec import read_qrels, read_run
    from mpbert.evaluation.compare import compare
    from mpbert.evaluation.evaluate import part_in_qrels, remark_on_ids
    from mpbert.evaluation.measures import parse_measure

    for name in config.measures:
        parse_measure(name)  # before the files are read
    names = run_names(config.runs)
    check_inputs([config.qrels, *config.runs])
    qrels = read_qrels(config.qrels)
    runs = {name: read_run(path) for name, path in zip(names, config.runs, strict=True)}
    if config.cluster == "paper" and not any("#" in query for query in qrels.query_ids):
        logger.info("no query id is paper#position: each query counts as a paper of its own")
    for name, ranked in runs.items():
        if remark := remark_on_ids(ranked, qrels):
            logger.warning("%s: %s", name, remark)
        if others := len(ranked) - len(part_in_qrels(ranked, qrels, name)):
            logger.info("%s: left out %s queries that the qrels lack", name, f"{others:,}")
    scores = compare(qrels, runs, config.measures, config.seed, config.cluster)
    print(FORMATS[config.format](scores))


def run_names(paths: Sequence[Path]) -> list[str]:
    """Return a short name of each run: of its file, else of its folder, else its path.

    :raises ConfigError: one path is given twice.
    """
    path, times = Counter(map(str, paths)).most_common(1)[0]
    if times > 1:
        raise ConfigError(f"{path}: given {times} times; expected each run once")
    stems = Counter(path.stem for path in paths)
    names = [p.stem if stems[p.stem] == 1 else p.absolute().parent.name for p in paths]
    shared = Counter(names)
    return [n if shared[n] == 1 else str(p) for n, p in zip(names, paths, strict=True)]
