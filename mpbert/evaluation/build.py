"""Build the report: measure all rows, test them, and say how."""

from collections.abc import Sequence

import numpy as np

from mpbert.evaluation.against_lexical import build_against_lexical
from mpbert.evaluation.caption import caption_of
from mpbert.evaluation.curves import curves_of
from mpbert.evaluation.measures import mean_measure
from mpbert.evaluation.report import (
    MAIN,
    MORE,
    OF_PAPERS,
    MeasuredQueries,
    MeasuredRow,
    Report,
    Setting,
)
from mpbert.evaluation.seeds import SeedScores, scores_over_seeds
from mpbert.evaluation.significance import clusters_of
from mpbert.evaluation.statements import NO_STATEMENTS, Statements, captions_of, measure_statements
from mpbert.evaluation.subsets import Subset, subsets_by_frequency, subsets_by_num_gold
from mpbert.evaluation.tables import (
    NUM_RESAMPLES,
    NUM_SAMPLES,
    Column,
    Resampling,
    Table,
    build_table,
)
from mpbert.foundation.seeding import named_rng

_DEEP = {  # those of HAtten; lists of contexts are shorter
    "local": tuple(f"Recall@{k}" for k in (10, 20, 50, 100)),
    "global": tuple(f"Recall@{k}" for k in (10, 100, 200, 500, 1000)),
}
_OF_RUNS = ("MRR", "F1@10", "F1@20", "F1@50", "F1@100")
_NAMED = 5  # rows that were not run are named up to so many
_Plan = list[tuple[str, str, Sequence[Subset], Sequence[str]]]


def build_report(
    setting: Setting,
    queries: MeasuredQueries,
    rows: Sequence[MeasuredRow],
    num_resamples: int = NUM_RESAMPLES,
    num_samples: int = NUM_SAMPLES,
    statements: Statements = NO_STATEMENTS,
) -> Report:
    """Measure all rows and say how.

    :param rows: in the order of the tables; at least one was run.
    :param num_resamples: of the bootstrap.
    :param num_samples: of the randomization tests.
    :param statements: of papers, which are measured too.
    """
    run = [row for row in rows if row.judged is not None]
    not_run = [row for row in rows if row.judged is None]
    hits = [[judged.hits for judged in row.all_judged] for row in run]
    by_gold = subsets_by_num_gold(queries.num_gold)
    by_frequency, median = subsets_by_frequency(queries.frequency)
    by_paper, num_queries = setting.cluster == "paper", len(queries.num_gold)
    clusters = clusters_of(queries.citing_ids) if by_paper else np.arange(num_queries)
    resampling = Resampling(clusters, num_resamples, num_samples)
    plan = _plan(setting.task, by_gold, by_frequency)
    tables = _tables(plan, hits, queries.num_gold, resampling, setting.seed)
    against = build_against_lexical(
        setting, by_gold, [row.family for row in run], hits, queries.num_gold, resampling
    )
    caption = caption_of(setting, queries, run, by_frequency, median, tables, against, resampling)
    claims, paper_tables = measure_statements(statements, setting, queries, rows, resampling)
    caption += captions_of(claims, paper_tables, resampling)
    if not_run:
        named = "; ".join(row.title for row in not_run)
        many = f"{len(not_run)} rows, which report.json names"
        caption.append(f"Not run: {named if len(not_run) <= _NAMED else many}.")
    return Report(
        setting=setting,
        rows=run,
        not_run=not_run,
        tables=tables,
        of_runs={
            name: [
                float(np.mean([mean_measure(name, h, queries.num_gold) for h in seeds]))
                for seeds in hits
            ]
            for name in _OF_RUNS
        },
        seeds=_seeds(run, queries.num_gold, tables[0].columns),
        curves=curves_of(queries.num_gold, queries.frequency, queries.years, hits),
        caption=caption,
        against_lexical=against,
        claims=claims,
        paper_tables=paper_tables,
    )


def _plan(task: str, by_gold: Sequence[Subset], by_frequency: Sequence[Subset]) -> _Plan:
    """Return name, title, subsets and measures of each table."""
    all_queries = [subset for subset in by_gold if subset.name == "P>=1"]
    depth = ("depth", "Recall further down the lists", all_queries, _DEEP[task])
    if task == "global":
        return [("main", "All papers that a paper cites", all_queries, OF_PAPERS), depth]
    together = "P ≥ 2 by how often the cited papers were cited together in training"
    return [
        ("main", "Recall and MAP by the number of papers a context cites", by_gold, MAIN),
        ("more", "MRR and nDCG by the number of papers a context cites", by_gold, MORE),
        ("frequency", together, by_frequency, MAIN),
        depth,
    ]


def _tables(
    plan: _Plan,
    hits: Sequence[Sequence[np.ndarray]],
    num_gold: np.ndarray,
    resampling: Resampling,
    seed: int,
) -> list[Table]:
    return [
        build_table(
            name,
            title,
            [Column(m, subset) for subset in subsets for m in measures],
            hits,
            num_gold,
            resampling,
            named_rng(seed, f"report table {name}"),
        )
        for name, title, subsets, measures in plan
    ]


def _seeds(
    rows: Sequence[MeasuredRow], num_gold: np.ndarray, columns: Sequence[Column]
) -> dict[str, SeedScores]:
    return {
        row.name: scores_over_seeds([judged.hits for judged in row.all_judged], num_gold, columns)
        for row in rows
        if row.other_seeds
    }
