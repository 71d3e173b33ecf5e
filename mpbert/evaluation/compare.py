"""Any runs of the same queries side by side: measures, intervals and tests, without a row file.

    compare(qrels, {"bm25": read_run(a), "ours": read_run(b)}) -> list[ComparedScore]

An entry stands for one run, one measure and one subset of the queries. ``pandas.DataFrame`` takes
the list as it is, and each field becomes a column. Intervals and tests are those of the report
(:mod:`mpbert.evaluation.tables`), from the same random numbers.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mpbert.corpus.trec import Qrels, Run
from mpbert.evaluation.compared import CLUSTERS, MEASURES, ComparedScore
from mpbert.evaluation.evaluate import Judged, citing_papers, judge, num_gold
from mpbert.evaluation.measures import RUN_MEASURE, depth_needed, mean_measure, parse_measure
from mpbert.evaluation.significance import clusters_of
from mpbert.evaluation.subsets import Subset, subsets_by_num_gold
from mpbert.evaluation.tables import NUM_RESAMPLES, NUM_SAMPLES, Column, Resampling, build_table
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.seeding import named_rng


def compare(
    qrels: Qrels,
    runs: Mapping[str, Run],
    measures: Sequence[str] = MEASURES,
    seed: int = 1,
    cluster: str = "paper",
) -> list[ComparedScore]:
    """Measure runs, and test each against the best other one.

    :param runs: name to run; at least one.
    :param measures: such as ``Recall@10``; ``F1@k`` has a mean alone, since it is no mean over
        queries.
    :param seed: of intervals and tests.
    :param cluster: what is resampled as a whole: ``paper``, all queries ``paper#position`` of one
        citing paper, or ``query``.
    :returns: by measure, then by subset, then by run, in the order given.
    :raises ConfigError: a measure or the cluster is unknown, or there is no run.
    :raises RunError: the qrels lack all queries of a run.
    """
    _check(runs, measures, cluster)
    measures = list(dict.fromkeys(measures))  # twice the same would be two comparisons to Holm
    gold = num_gold(qrels)
    longest = max(run.longest for run in runs.values())
    depth = min(depth_needed(measures, longest), longest)
    judged = {name: judge(run, qrels, depth, name) for name, run in runs.items()}
    names = citing_papers(qrels.query_ids, "local") if cluster == "paper" else qrels.query_ids
    subsets = subsets_by_num_gold(gold)
    of_queries = [name for name in measures if parse_measure(name)[0] != RUN_MEASURE]
    columns = [Column(measure, subset) for measure in of_queries for subset in subsets]
    found = _tested(columns, judged, gold, clusters_of(names), seed) if columns else []
    tested = {(score.measure, score.subset, score.run): score for score in found}
    return [
        tested.get((measure, subset.name, name)) or _untested(name, measure, subset, each, gold)
        for measure in measures
        for subset in subsets
        for name, each in judged.items()
    ]


def _check(runs: Mapping[str, Run], measures: Sequence[str], cluster: str) -> None:
    for name in measures:
        parse_measure(name)
    if cluster not in CLUSTERS:
        raise ConfigError(f"cluster is {cluster!r}; expected one of {', '.join(CLUSTERS)}")
    if not runs or not measures:
        raise ConfigError(
            f"found {len(runs)} runs and {len(measures)} measures; expected one or more of both"
        )


def _tested(
    columns: Sequence[Column],
    judged: Mapping[str, Judged],
    gold: np.ndarray,
    clusters: np.ndarray,
    seed: int,
) -> list[ComparedScore]:
    table = build_table(
        "main",
        "",
        columns,
        [[each.hits] for each in judged.values()],
        gold,
        Resampling(clusters, NUM_RESAMPLES, NUM_SAMPLES),
        named_rng(seed, "report table main"),
        whole=True,
    )
    names = list(judged)
    return [
        ComparedScore(
            run=name,
            measure=column.measure,
            subset=column.subset.name,
            queries=len(column.subset),
            missing=_missing(judged[name], column.subset),
            mean=float(table.means[r, j]),
            low=float(table.low[r, j]),
            high=float(table.high[r, j]),
            other=names[table.others[r, j]] if table.others[r, j] >= 0 else "",
            difference=float(table.differences[r, j]),
            difference_low=float(table.differences_low[r, j]),
            difference_high=float(table.differences_high[r, j]),
            p_randomization=float(table.p_randomization[r, j]),
            p_t_test=float(table.p_t_test[r, j]),
        )
        for j, column in enumerate(table.columns)
        for r, name in enumerate(names)
    ]


def _untested(
    name: str, measure: str, subset: Subset, judged: Judged, gold: np.ndarray
) -> ComparedScore:
    mask = subset.mask
    mean = (
        mean_measure(measure, judged.hits[mask], gold[mask], whole=True) if mask.any() else math.nan
    )
    return ComparedScore(
        name, measure, subset.name, len(subset), _missing(judged, subset), float(mean)
    )


def _missing(judged: Judged, subset: Subset) -> int:
    return int(((judged.depths == 0) & subset.mask).sum())
