"""``evaluate``: qrels and a run -> measures of this one run."""

import math
from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import option, positional
from mpbert.foundation.manifest import check_inputs


@dataclass(frozen=True)
class Config:
    """Print measures of one run, in percent, by the number of papers a query cites."""

    qrels: Path = positional("qrels", "TREC qrels, such as qrels.test.txt of a corpus store")
    ranked: Path = positional("ranked", "TREC run to measure")
    measures: list[str] = option(
        ("Recall@10", "MAP@10", "MRR@10", "nDCG@10"),
        "measures: Recall, P, F1, MAP, MRR or nDCG with a cutoff, or MRR of whole rankings",
        nargs="+",
    )
    each_citation: bool = option(
        False, "each cited paper is a query, as where one context stands for one citation"
    )


def run(config: Config) -> None:
    """Print a line per measure and a column per subset.

    :raises ConfigError: a measure is unknown.
    :raises RunError: a file is malformed, or the qrels lack all queries of the run.
    """
    from mpbert.corpus.trec import read_qrels, read_run
    from mpbert.evaluation.evaluate import evaluate, part_in_qrels, remark_on_ids
    from mpbert.evaluation.measures import parse_measure

    for name in config.measures:
        parse_measure(name)  # before the files are read
    check_inputs([config.qrels, config.ranked])
    qrels, ranked = read_qrels(config.qrels), read_run(config.ranked)
    measures = list(dict.fromkeys(config.measures))
    scores = evaluate(qrels, ranked, measures, str(config.ranked), config.each_citation)
    subsets = [score for score in scores if score.measure == measures[0]]
    width = max(map(len, (*measures, "missing in the run"))) + 2

    def line(name: str, entries: list[str]) -> str:
        return name.ljust(width) + "".join(entry.rjust(10) for entry in entries)

    print(line("", [score.subset for score in subsets]))
    print(line("queries", [f"{score.queries:,}" for score in subsets]))
    print(line("missing in the run", [f"{score.missing:,}" for score in subsets]))
    for name in measures:
        means = [score.mean for score in scores if score.measure == name]
        print(line(name, ["-" if math.isnan(mean) else f"{100 * mean:.2f}" for mean in means]))
    if remark := remark_on_ids(ranked, qrels):
        print(f"{config.ranked}: {remark}")
    if others := len(ranked) - len(part_in_qrels(ranked, qrels, str(config.ranked))):
        print(f"left out {others:,} queries of the run that the qrels lack")
