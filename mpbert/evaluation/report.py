"""The report as numbers and sentences: tables, curves and a caption; no layout, no files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.measures import expected_at_random, mean_measure, measure, recall_curve
from mpbert.evaluation.self_citation import SelfCitation
from mpbert.evaluation.significance import clusters_of
from mpbert.evaluation.subsets import Subset, subsets_by_frequency, subsets_by_num_gold
from mpbert.evaluation.tables import (
    ALPHA,
    NUM_RESAMPLES,
    NUM_SAMPLES,
    Column,
    Resampling,
    Table,
    build_table,
)
from mpbert.experiments.rows import SettingValue
from mpbert.experiments.seeds import SeedScores, scores_over_seeds
from mpbert.experiments.tuning import Budget, TunedRow
from mpbert.foundation.seeding import named_rng

DEPTH = {"local": 100, "global": 1000}  # task to ranks of the Recall@k curve
_MAIN = ("Recall@10", "MAP@10")
_MORE = ("MRR@10", "nDCG@10")
_GLOBAL = ("MRR", "Recall@10", "MAP@10", "Recall@100", "Recall@1000")
_DEEP = tuple(f"Recall@{k}" for k in (10, 100, 200, 500, 1000))  # those of HAtten
_OF_RUNS = ("MRR", "F1@10", "F1@20", "F1@50", "F1@100")
_QUERY = {
    "local": "a citation context",
    "global": "title and abstract of a paper, and all papers that it cites are sought",
}
_EDGES = (0.0, 1.0, 3.0, 10.0, 30.0)  # of mean pair frequencies, about a factor of 3


@dataclass(frozen=True)
class Queries:
    """What is known of the queries without any run; arrays are (Q,).

    :param num_gold: number of papers each context cites.
    :param citing_ids: ids of the citing papers.
    :param years: years of the citing papers.
    :param frequency: mean training co-citation frequency of the pairs cited; NaN without a pair.
    """

    num_gold: np.ndarray
    citing_ids: Sequence[str]
    years: np.ndarray
    frequency: np.ndarray


@dataclass(frozen=True)
class MeasuredRow:
    """A row of the tables.

    :param judged: its rankings; None: it was not run.
    :param other_seeds: its rankings after trainings with other seeds.
    :param remarks: what a reader should know of its run.
    :param settings: all that are in force, but for the defaults of its method.
    :param tuned: how these were chosen; None: they were not.
    :param published: what its paper prints of its ``corpus``, by measure.
    :param self_citation: ranks of papers of the same authors; None: there are no authors.
    """

    name: str
    title: str
    note: str = ""
    judged: Judged | None = None
    other_seeds: Sequence[Judged] = ()
    remarks: tuple[str, ...] = ()
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    tuned: TunedRow | None = None
    published: Mapping[str, float | str] = field(default_factory=dict)
    self_citation: SelfCitation | None = None


@dataclass(frozen=True)
class Setting:
    """What was evaluated, and how.

    :param num_papers: papers of the corpus; all but the citing one are candidates.
    :param task: ``local`` or ``global``.
    :param fingerprint: SHA-256 of the corpus manifest, or empty.
    :param cluster: ``paper`` or ``query``: what is resampled as a whole.
    :param budget: of tuning; None: nothing was tuned.
    """

    corpus: str
    split: str
    num_papers: int
    fingerprint: str = ""
    cluster: str = "paper"
    seed: int = 1
    budget: Budget | None = None
    task: str = "local"


@dataclass(frozen=True)
class Curve:
    """One measure of each row against something.

    :param x: (X,) numbers or names along the axis.
    :param sizes: (X,) queries behind each point.
    :param values: (R, X) means.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    x: Sequence[float | int | str]
    sizes: Sequence[int]
    values: np.ndarray


@dataclass(frozen=True)
class Report:
    """Everything that is printed; tables and curves have the rows of ``rows``, in this order.

    :param of_runs: measures of whole runs, without tests: a value for each row.
    :param seeds: name of a row that was trained with several seeds, to its scores in the columns of
        the first table.
    """

    setting: Setting
    rows: Sequence[MeasuredRow]
    not_run: Sequence[MeasuredRow]
    tables: Sequence[Table]
    of_runs: Mapping[str, Sequence[float]]
    seeds: Mapping[str, SeedScores]
    curves: Sequence[Curve]
    caption: Sequence[str]


def build_report(
    setting: Setting,
    queries: Queries,
    rows: Sequence[MeasuredRow],
    num_resamples: int = NUM_RESAMPLES,
    num_samples: int = NUM_SAMPLES,
) -> Report:
    """Measure all rows and say how.

    :param rows: in the order of the tables; at least one was run.
    :param num_resamples: of the bootstrap.
    :param num_samples: of the randomization tests.
    """
    run = [row for row in rows if row.judged is not None]
    hits = [row.judged.hits for row in run]
    by_gold = subsets_by_num_gold(queries.num_gold)
    by_frequency, median = subsets_by_frequency(queries.frequency)
    if setting.task == "global":
        all_queries = [subset for subset in by_gold if subset.name == "P>=1"]
        plan = [
            ("main", "All papers that a paper cites", all_queries, _GLOBAL),
            ("depth", "Recall further down the lists", all_queries, _DEEP),
        ]
    else:
        plan = [
            ("main", "Recall and MAP by the number of papers a context cites", by_gold, _MAIN),
            ("more", "MRR and nDCG by the number of papers a context cites", by_gold, _MORE),
            (
                "frequency",
                "P ≥ 2 by how often the cited papers were cited together in training",
                by_frequency,
                _MAIN,
            ),
        ]
    clusters = (
        clusters_of(queries.citing_ids)
        if setting.cluster == "paper"
        else np.arange(len(queries.num_gold))
    )
    resampling = Resampling(clusters, num_resamples, num_samples)
    tables = [
        build_table(
            name,
            title,
            [Column(m, subset) for subset in subsets for m in measures],
            hits,
            queries.num_gold,
            resampling,
            named_rng(setting.seed, f"report table {name}"),
        )
        for name, title, subsets, measures in plan
    ]
    caption = _caption(setting, queries, run, by_gold, by_frequency, median, tables, resampling)
    not_run = [row for row in rows if row.judged is None]
    if not_run:
        caption.append("Not run: " + "; ".join(row.title for row in not_run) + ".")
    return Report(
        setting=setting,
        rows=run,
        not_run=not_run,
        tables=tables,
        of_runs={
            name: [mean_measure(name, h, queries.num_gold) for h in hits] for name in _OF_RUNS
        },
        seeds={
            row.name: scores_over_seeds(
                [row.judged.hits, *(judged.hits for judged in row.other_seeds)],
                queries.num_gold,
                tables[0].columns,
            )
            for row in run
            if row.other_seeds
        },
        curves=_curves(queries, hits),
        caption=caption,
    )


def _curves(queries: Queries, hits: Sequence[np.ndarray]) -> list[Curve]:
    size = len(queries.num_gold)
    recalls = np.array([recall_curve(h, queries.num_gold) for h in hits])  # (R, K)
    ranks = list(range(1, recalls.shape[1] + 1))
    curves = [
        Curve("recall", "Recall@k, P ≥ 1", "k", "Recall@k", ranks, [size] * len(ranks), recalls)
    ]
    at_10 = np.array([measure("Recall@10", h, queries.num_gold) for h in hits])  # (R, Q)
    bins = np.digitize(queries.frequency, _EDGES, right=True)  # NaN comes last
    bins = np.where(np.isnan(queries.frequency), -1, bins)
    names = ["0", *(f"≤ {edge:g}" for edge in _EDGES[1:])]
    names.append(f"> {_EDGES[-1]:g}")
    curves.append(
        _grouped(
            "frequency",
            "Recall@10, P ≥ 2, by co-citation history",
            "mean number of training contexts that cite a pair of the cited papers together",
            names,
            bins,
            at_10,
        )
    )
    years, year_of = np.unique(queries.years, return_inverse=True)
    curves.append(
        _grouped(
            "year", "Recall@10, P ≥ 1, by year", "year of the citing paper", years, year_of, at_10
        )
    )
    return [curve for curve in curves if len(curve.x) > 1]


def _grouped(
    name: str,
    title: str,
    x_label: str,
    groups: Sequence[str | int],
    group_of: np.ndarray,
    values: np.ndarray,
) -> Curve:
    sizes = np.bincount(group_of[group_of >= 0], minlength=len(groups))
    used = np.flatnonzero(sizes)
    means = [values[:, group_of == group].mean(axis=1) for group in used]
    x = [str(groups[group]) for group in used]
    stacked = np.array(means).reshape(len(used), len(values)).T  # (R, X)
    return Curve(name, title, x_label, "Recall@10", x, sizes[used].tolist(), stacked)


def _caption(
    setting: Setting,
    queries: Queries,
    rows: Sequence[MeasuredRow],
    by_gold: Sequence[Subset],
    by_frequency: Sequence[Subset],
    median: float,
    tables: Sequence[Table],
    resampling: Resampling,
) -> list[str]:
    num_clusters = int(resampling.clusters.max()) + 1
    candidates = setting.num_papers - 1
    chance = [
        f"{name} {100 * expected_at_random(name, queries.num_gold, candidates).mean():.2f}"
        for name in (_GLOBAL if setting.task == "global" else (*_MAIN, *_MORE))
    ]
    sizes = ", ".join(f"{subset.title}: {len(subset):,}" for subset in by_gold)
    unit = "citing papers" if setting.cluster == "paper" else "queries"
    why = " (queries of one paper are not independent)" if setting.cluster == "paper" else ""
    comparisons = ", ".join(f"{table.num_comparisons}" for table in tables)
    lines = [
        f"Corpus {setting.corpus}, split {setting.split}"
        + (f", manifest {setting.fingerprint[:12]}" if setting.fingerprint else "")
        + f". A query is {_QUERY[setting.task]}; queries by the number of papers they cite: "
        f"{sizes}; {len(set(queries.citing_ids)):,} citing papers.",
        f"Pool: all {setting.num_papers:,} papers of the corpus but the citing one, "
        f"{candidates:,} candidates a query. Ties: larger score first, then the smaller paper id.",
        "Numbers are means over queries, in %. Average precision is divided by the number of "
        "cited papers, as map_cut of trec_eval. A query that a run lacks counts 0.",
        "Expected of a random order (P ≥ 1): " + ", ".join(chance) + ".",
        f"Bold, or in brackets: largest of a column. *: significantly better than the best other "
        f"row. ~: not significantly worse than the best row. Two-sided randomization test, "
        f"{resampling.num_samples:,} exchanges of whole {unit}, each row against the best other "
        f"one, p < {ALPHA:g} after Holm's correction over all comparisons of a table "
        f"({comparisons}).",
        f"Intervals: 95 %, percentile bootstrap, {resampling.num_resamples:,} resamples of "
        f"{num_clusters:,} {unit}{why}. t-test: paired, over queries, as in MP-BERT4CR, "
        f"Holm-corrected too. Seed {setting.seed}.",
    ]
    if setting.task == "local" and any(len(subset) for subset in by_frequency):
        groups = ", ".join(f"{subset.name} {len(subset):,}" for subset in by_frequency)
        pairs = queries.frequency[~np.isnan(queries.frequency)]
        seen = (
            "none was seen, so none is low or high"
            if np.isnan(median)
            else f"low: up to the median of the seen, {median:g}; high: above it"
        )
        lines.append(
            f"Co-citation history: mean, over the pairs of papers a query cites, of the number of "
            f"training contexts that cite both. unseen: 0; {seen} ({groups} queries; median with "
            f"the unseen {np.median(pairs):g})."
        )
    lines.append(
        f"MRR: of the first {DEPTH[setting.task]:,} papers. F1@k: harmonic mean of P@k and "
        "Recall@k, each averaged over queries before, as in Citeomatic."
    )
    if any(row.published for row in rows):
        lines.append(
            "What papers print is of their own corpora and models: it tells how hard those were, "
            "and cannot be compared with the other numbers."
        )
    if any(row.other_seeds for row in rows):
        lines.append(
            "Over seeds: mean of trainings that differ by their seed alone, ± half of its 95 % "
            "interval (Student's t). All other tables hold the first of them."
        )
    if any(row.self_citation for row in rows):
        lines.append(
            "Self-citation: papers that share an author with the citing paper, among the first k "
            "of a ranking; share of the queries with one, and means over queries of their mean and "
            "of their best rank, k + 1 where there is none. The lower the ranks, the more a row "
            "favours them."
        )
    lines.append(_tuning(setting.budget))
    return lines + [f"{row.title}: {remark}." for row in rows for remark in row.remarks]


def _tuning(budget: Budget | None) -> str:
    if budget is None:
        return "Settings are those of the rows; no tuning was done for this report."
    return (
        f"Settings were chosen by mean {budget.measure} over all {budget.queries:,} queries of the "
        f"{budget.split} split, with the same budget for every row that has a space of settings: "
        f"at most {budget.trials} trials, the row's own settings first, then random ones of its "
        f"space, none begun after {budget.minutes:g} minutes. Trials none: not tuned; 4 -1: one of "
        "4 failed. Own settings and spaces of the rows were settled before, with looks at the same "
        "split."
    )
