"""The caption of a report: what was measured, how, and what a reader should know of each row."""

from collections.abc import Sequence

import numpy as np

from mpbert.evaluation.against_lexical import sentence_of
from mpbert.evaluation.measures import expected_at_random
from mpbert.evaluation.report import (
    DEPTH,
    MAIN,
    MORE,
    OF_PAPERS,
    MeasuredQueries,
    MeasuredRow,
    Setting,
)
from mpbert.evaluation.subsets import Subset, subsets_by_num_gold
from mpbert.evaluation.tables import ALPHA, Resampling, Table

_QUERY = {
    "local": "a citation context",
    "global": "title and abstract of a paper, and all papers that it cites are sought",
}


def caption_of(
    setting: Setting,
    queries: MeasuredQueries,
    rows: Sequence[MeasuredRow],
    by_frequency: Sequence[Subset],
    median: float,
    tables: Sequence[Table],
    against_lexical: Table | None,
    resampling: Resampling,
) -> list[str]:
    """Return the sentences below the tables, in order.

    :param rows: those that were run.
    :param by_frequency: and ``median``, of :func:`subsets_by_frequency`.
    """
    against = [sentence_of(against_lexical, rows)] if against_lexical else []
    return [
        *_queries(setting, queries),
        *_tests(setting, tables, resampling),
        *against,
        *_cocitation(setting, queries, by_frequency, median),
        *_rows(setting, rows),
        *_tuning(setting, rows),
        *_earlier(rows),
        *(f"{row.full_title}: {remark}." for row in rows for remark in row.remarks),
    ]


def _queries(setting: Setting, queries: MeasuredQueries) -> list[str]:
    by_gold = subsets_by_num_gold(queries.num_gold)
    sizes = ", ".join(f"{subset.title}: {len(subset):,}" for subset in by_gold)
    chance = [
        f"{name} {100 * _at_random(setting, queries, name):.2f}"
        for name in (OF_PAPERS if setting.task == "global" else (*MAIN, *MORE))
    ]
    return [
        f"Corpus {setting.corpus}, split {setting.split}"
        + (f", manifest {setting.fingerprint[:12]}" if setting.fingerprint else "")
        + f". A query is {_QUERY[setting.task]}; queries by the number of papers they cite: "
        f"{sizes}; {len(set(queries.citing_ids)):,} citing papers.",
        *_repeats(setting),
        *_pool(setting, queries),
        "Numbers are means over queries, in %. Average precision is divided by the number of "
        "cited papers, as map_cut of trec_eval. A query that a run lacks counts 0.",
        "Expected of a random order (P ≥ 1): " + ", ".join(chance) + ".",
    ]


def _at_random(setting: Setting, queries: MeasuredQueries, name: str) -> float:
    known = queries.num_gold
    if setting.pool == "known":
        known = known - queries.num_newer
    return expected_at_random(name, queries.num_gold, queries.candidates, known).mean()


def _pool(setting: Setting, queries: MeasuredQueries) -> list[str]:
    counts, newer = queries.candidates, int(queries.num_newer.sum())
    ties = "Ties: larger score first, then the smaller paper id."
    if setting.pool == "all":
        return [
            f"Pool: all {setting.num_papers:,} papers of the corpus except the manuscript itself, "
            f"{setting.num_papers - 1:,} candidates a query. {ties}"
        ]
    lines = [
        "Pool: papers of the manuscript's year or earlier, except the manuscript itself: from "
        f"{counts.min():,} to {counts.max():,} candidates a query, {counts.mean():,.0f} on "
        f"average. --pool all keeps newer ones. {ties}"
    ]
    if newer:
        are = "is" if newer == 1 else "are"
        counted = (
            "It is no candidate, and counts" if newer == 1 else "They are no candidates, and count"
        )
        lines.append(
            f"Of {queries.num_gold.sum():,} papers that the queries cite, {newer:,} {are} newer "
            f"than the manuscript. {counted} as not found."
        )
    if setting.split_by == "random":
        lines.append(
            "The split is random: training sentences that cite a paper, and training papers that "
            "vectors are learnt from, may be newer than a manuscript. Counts of citations are of "
            "papers of its year or earlier."
        )
    return lines


def _repeats(setting: Setting) -> list[str]:
    """Say which contexts repeat another, and whether they count."""
    found = setting.repeats
    if found is None:
        return []
    count = "count all the same" if setting.queries == "all" else "do not count"
    of_these = "the others" if setting.queries == "all" else "those that count"
    return [
        f"Repeats: of {found.num_contexts:,} contexts of the split, {found.num_repeats:,} have the "
        f"words and the citations of an earlier one, and {count}. The largest group of equal "
        f"contexts has {found.largest:,}. Of {of_these}, {found.in_training:,} have the words and "
        f"the citations of a training context."
    ]


def _tests(setting: Setting, tables: Sequence[Table], resampling: Resampling) -> list[str]:
    num_clusters = int(resampling.clusters.max()) + 1
    unit = "citing papers" if setting.cluster == "paper" else "queries"
    why = " (queries of one paper are not independent)" if setting.cluster == "paper" else ""
    comparisons = ", ".join(f"{table.num_comparisons}" for table in tables)
    return [
        f"Bold, or in brackets: largest of a column. *: significantly better than the best other "
        f"row. ~: not significantly worse than the best row. Two-sided randomization test, "
        f"{resampling.num_samples:,} exchanges of whole {unit}, each row against the best other "
        f"one, p < {ALPHA:g} after Holm's correction over all comparisons of a table "
        f"({comparisons}).",
        f"Intervals: 95 %, percentile bootstrap, {resampling.num_resamples:,} resamples of "
        f"{num_clusters:,} {unit}{why}. t-test: paired, over queries, as in MP-BERT4CR, "
        f"Holm-corrected too. Seed {setting.seed}.",
    ]


def _cocitation(
    setting: Setting, queries: MeasuredQueries, by_frequency: Sequence[Subset], median: float
) -> list[str]:
    if setting.task != "local" or not any(len(subset) for subset in by_frequency):
        return []
    groups = ", ".join(f"{subset.name} {len(subset):,}" for subset in by_frequency)
    pairs = queries.frequency[~np.isnan(queries.frequency)]
    seen = (
        "none was seen, so none is low or high"
        if np.isnan(median)
        else f"low: up to the median of the seen, {median:g}; high: above it"
    )
    return [
        f"Co-citation history: mean, over the pairs of papers a query cites, of the number of "
        f"training contexts that cite both. unseen: 0; {seen} ({groups} queries; median with "
        f"the unseen {np.median(pairs):g})."
    ]


def _rows(setting: Setting, rows: Sequence[MeasuredRow]) -> list[str]:
    lines = [
        f"MRR: of the first {DEPTH[setting.task]:,} papers. F1@k: harmonic mean of P@k and "
        "Recall@k, each averaged over queries before, as in Citeomatic."
    ]
    if any(row.published for row in rows):
        lines.append(
            "What papers print is of their own corpora and models: it tells how hard those were, "
            "and cannot be compared with the other numbers."
        )
    if any(row.is_trained or row.other_seeds for row in rows):
        lines.append(
            "Seeds: a query's value is its mean over all seeds of a row, in every table and curve; "
            "self-citation is of the first seed. Intervals draw the seeds of a row anew, too; "
            "tests take the seeds as they are. A row that takes runs or vectors of others takes "
            "those of its own seed. One seed, two seeds: the row was trained once or twice, so how "
            "much it depends on the seed is not known; it has no * and no claim."
        )
    if any(row.other_seeds for row in rows):
        lines.append(
            "Over seeds: mean of trainings that differ by their seed alone, ± half of its 95 % "
            "interval (Student's t)."
        )
    if any(row.self_citation for row in rows):
        lines.append(
            "Self-citation: papers that share an author with the citing paper, among the first k "
            "of a ranking; share of the queries with one, and means over queries of their mean and "
            "of their best rank, k + 1 where there is none. The lower the ranks, the more a row "
            "favours them."
        )
    if any(row.reliability for row in rows):
        lines.append(
            "How sure answers are: the probability that the first paper is cited, of the first "
            "seed. AUROC: how well it tells right first papers from wrong ones. ECE: expected "
            "calibration error, 15 bins of equal width. Library: AUROC of the probability that the "
            "library holds what belongs here, of answers as they are and without the cited papers. "
            "Wrong of the surest: first papers that are not cited, among so many of the answers."
        )
    return lines


def _earlier(rows: Sequence[MeasuredRow]) -> list[str]:
    titles = "; ".join(row.full_title for row in rows if row.is_earlier)
    return [f"Measured earlier, on these very queries: {titles}."] * bool(titles)


def _tuning(setting: Setting, rows: Sequence[MeasuredRow]) -> list[str]:
    lines, budget = [], setting.budget
    if budget is None:
        lines.append("Settings are those of the rows; no tuning was done for this report.")
    else:
        ranked, every = budget.queries.get(setting.task, 0), budget.of.get(setting.task, 0)
        sample = f"a fixed random sample of {ranked:,} of the " if ranked < every else "all "
        first = f"those chosen on {budget.start}" if budget.start else "the row's own"
        lines.append(
            f"Settings were chosen by mean {budget.measure} over {sample}{every:,} queries of the "
            f"{budget.split} split. Every row that has a space of settings has the same budget, "
            f"{budget.cpu_hours:g} CPU hours. The first settings, {first}, are tried whatever they "
            "cost. Then the row's own and random ones of its space follow, as long as another "
            "trial of the mean cost so far fits. Own -: not tried, or failed. Trials 7/96 -1: 7 "
            "of 96 settings were tried, and one failed. none: not tuned. The rows' own settings "
            "and spaces were settled before, with looks at the same split."
        )
        for most in sorted({row.tuned.most for row in rows if row.tuned and row.tuned.most}):
            titles = [row.title for row in rows if row.tuned and row.tuned.most == most]
            lines.append(f"At most {most} settings were tried of these rows: {'; '.join(titles)}.")
    if any(row.developed for row in rows):
        lines.append(
            "Developed: CPU hours that our looks at validation had cost before a row's own "
            "settings were settled, a lower bound. They are taken off its budget. -: not counted."
        )
    return lines
