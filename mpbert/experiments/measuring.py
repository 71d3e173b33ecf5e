"""Measure the rows of a report: their runs beside the qrels, and what a reader should know."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mpbert.corpus.cocitation import cocitation_counts
from mpbert.corpus.repeats import repeats_of
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import Qrels
from mpbert.evaluation.build import build_report
from mpbert.evaluation.claims import Claim
from mpbert.evaluation.evaluate import citing_papers, num_gold
from mpbert.evaluation.paper_tables import PaperTable
from mpbert.evaluation.report import MeasuredQueries, MeasuredRow, Report, Setting
from mpbert.evaluation.statements import Statements
from mpbert.evaluation.subsets import mean_pair_frequency
from mpbert.experiments.claim_files import check_depth, claims_of_task, task_of
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.identity import learns_from
from mpbert.experiments.pretrained_texts import remarks_on_reading
from mpbert.experiments.report_plan import ReportPlan
from mpbert.experiments.row_results import Source, result_of, source_of, years_of
from mpbert.experiments.rows import with_needs
from mpbert.experiments.seeds import family_of, is_trained
from mpbert.foundation.errors import ConfigError, RunError
from mpbert.foundation.manifest import MANIFEST, fingerprint, read_manifest
from mpbert.foundation.progress import progress
from mpbert.retrieval.pool import num_candidates


def measure_rows(plan: ReportPlan) -> Report:
    """Measure all rows of a report.

    :raises RunError: a run is malformed, or names unknown queries or papers.
    :raises ConfigError: no row was run.
    """
    experiment, variants = plan.experiment, plan.variants()
    corpus = experiment.corpus
    store = CorpusStore(corpus)
    source = source_of(plan, store)
    statements = statements_of(experiment, plan.task, plan.claims, plan.paper_tables)
    known = [variant for variant in variants if plan.is_known(variant)]
    shown = progress(known, "report", "row")
    measured = {variant.name: _measured(plan, variant, source) for variant in shown}
    if not measured:
        raise ConfigError(
            f"none of {len(variants)} rows was run on {corpus.name} (looked for "
            f"{plan.run_of(variants[0])} and the like); run mpbert make-rows first"
        )
    setting = Setting(
        corpus.name,
        plan.split,
        store.num_papers,
        fingerprint(corpus),
        plan.cluster,
        plan.seed,
        experiment.tuned.budget,
        plan.task,
        experiment.pool,
        _split_by(corpus),
        plan.queries,
        repeats_of(store, plan.split) if plan.task == "local" else None,
    )
    queries = _queries(plan, store, source.qrels)
    rows = [measured.get(variant.name) or _planned(plan, variant) for variant in variants]
    return build_report(setting, queries, rows, statements=statements)


def scores_of(report: Report) -> dict[str, dict[str, float]]:
    """Return the means of all tables: name of the row to column to score."""
    return {
        row.name: {
            column.name: float(table.means[r, j])
            for table in report.tables
            for j, column in enumerate(table.columns)
        }
        for r, row in enumerate(report.rows)
    }


def _planned(plan: ReportPlan, variant: Variant) -> MeasuredRow:
    """Return a row with what is known without its run."""
    row, experiment = variant.row, plan.experiment
    remarks = []
    needed = with_needs(list(experiment.rows.values()), {row.name})
    of_needed = [experiment.variant(name) for name in needed - {row.name}]
    if plan.split in {learns_from(each.row, each.settings) for each in (variant, *of_needed)}:
        remarks.append("learnt from these very queries, so it cannot be compared with the others")
    if row.run:
        remarks.append("another system made its run; training and tuning are not known here")
    remarks += remarks_on_reading(experiment.rows, row.name, experiment.corpus.name)
    return MeasuredRow(
        row.name,
        row.title,
        row.note,
        family=family_of(row),
        is_trained=is_trained(experiment.rows, row.name),
        remarks=tuple(remarks),
        settings=variant.settings,
        tuned=experiment.tuned.rows.get(row.name),
        developed=row.developed.get(experiment.corpus.name),
        published=row.published,
    )


def _measured(plan: ReportPlan, variant: Variant, source: Source) -> MeasuredRow:
    """Return a row with its rankings."""
    row = _planned(plan, variant)
    seeds = [variant, *plan.other_seeds(variant)]
    first, *others = (result_of(plan, each, source) for each in seeds)
    remarks = [*row.remarks, *first.remarks]
    for seed, other in enumerate(others, start=2):
        remarks += [f"seed {seed}: {remark}" for remark in other.remarks]
    return dataclasses.replace(
        row,
        judged=first.judged,
        other_seeds=[other.judged for other in others],
        remarks=tuple(remarks),
        self_citation=first.self_citation,
        reliability=first.reliability,
        is_earlier=any(plan.is_kept(each) for each in seeds),
    )


def _split_by(corpus: Path) -> str:
    """Return how the papers of a corpus were split; empty where its manifest does not tell."""
    if not (corpus / MANIFEST).is_file():
        return ""
    return str(read_manifest(corpus).get("config", {}).get("split", ""))


def _queries(plan: ReportPlan, store: CorpusStore, qrels: Qrels) -> MeasuredQueries:
    citing_ids = citing_papers(qrels.query_ids, plan.task)
    _refuse_unknown(plan, store, [*citing_ids, *qrels.paper_ids])
    train = store.contexts("train")
    counts = cocitation_counts(train.cited_offsets, train.cited_rows, store.num_papers)
    gold_rows = np.array([store.row_of[paper] for paper in qrels.paper_ids])[qrels.codes]
    years = years_of(store, qrels.query_ids, plan.task)
    is_newer = store.years[gold_rows] > np.repeat(years, num_gold(qrels))
    return MeasuredQueries(
        num_gold(qrels),
        citing_ids,
        years,
        mean_pair_frequency(qrels.offsets, gold_rows, counts),
        num_candidates(store.years, years, plan.experiment.pool),
        np.add.reduceat(is_newer, qrels.offsets[:-1], dtype=np.int64),
    )


def _refuse_unknown(plan: ReportPlan, store: CorpusStore, papers: Sequence[str]) -> None:
    unknown = [paper for paper in papers if paper not in store.row_of]
    if unknown:
        raise RunError(
            f"{plan.qrels(store)}: names the paper "
            f"{unknown[0]!r}, which the corpus lacks; expected queries like 'paper#12', build the "
            f"corpus again"
        )


def statements_of(
    experiment: Experiment, task: str, claims: Sequence[Claim], tables: Sequence[PaperTable]
) -> Statements:
    """Return what is measured on the rows of a task.

    :raises ConfigError: a claim or table names rows of two tasks, or looks too deep.
    """
    rows = experiment.rows
    of_task = [
        table
        for table in tables
        if task_of([r.row for r in table.rows], rows, f"table {table.name}") == task
    ]
    for table in of_task:
        for measure, _ in table.columns:
            check_depth(measure, task, f"table {table.name}")
    return Statements(claims_of_task(claims, rows, task), of_task)
