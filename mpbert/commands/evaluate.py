"""evaluate: qrels and a run -> measures of this one run."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.corpus.trec import read_qrels, read_run
from mpbert.evaluation.evaluate import judge, num_gold
from mpbert.evaluation.measures import depth_needed, mean_measure, parse_measure
from mpbert.evaluation.subsets import subsets_by_num_gold
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
        type=str,
    )


def run(config: Config) -> None:
    """Print a line per measure and a column per subset.

    :raises ConfigError: a measure is unknown.
    :raises RunError: a file is malformed, or the run has queries that the qrels lack.
    """
    for name in config.measures:
        parse_measure(name)  # before the files are read
    check_inputs([config.qrels, config.ranked])
    qrels, ranked = read_qrels(config.qrels), read_run(config.ranked)
    depth = min(depth_needed(config.measures, ranked.longest), ranked.longest)
    judged = judge(ranked, qrels, depth, str(config.ranked))
    gold = num_gold(qrels)
    subsets = subsets_by_num_gold(gold)
    width = max(map(len, (*config.measures, "missing in the run"))) + 2

    def line(name: str, entries: list[str]) -> str:
        return name.ljust(width) + "".join(entry.rjust(10) for entry in entries)

    print(line("", [subset.name for subset in subsets]))
    print(line("queries", [f"{len(subset):,}" for subset in subsets]))
    missing = judged.depths == 0
    print(line("missing in the run", [f"{(missing & s.mask).sum():,}" for s in subsets]))
    for name in config.measures:
        means = [
            mean_measure(name, judged.hits[s.mask], gold[s.mask], whole=True) if len(s) else None
            for s in subsets
        ]
        print(line(name, ["-" if mean is None else f"{100 * mean:.2f}" for mean in means]))
