"""Measure the rows of a report: their runs beside the qrels, and what a reader should know."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from mpbert.corpus.cocitation import cocitation_counts
from mpbert.corpus.queries import qrels_name
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import Qrels, Run, matrices_of_run, read_qrels, read_run
from mpbert.evaluation.build import build_report
from mpbert.evaluation.claims import Claim
from mpbert.evaluation.evaluate import (
    Judged,
    citing_papers,
    judge,
    num_gold,
    times_citing_paper_ranked,
)
from mpbert.evaluation.paper_tables import PaperTable
from mpbert.evaluation.report import DEPTH, MeasuredQueries, MeasuredRow, Report, Setting
from mpbert.evaluation.self_citation import author_matrix, self_citation, shares_author
from mpbert.evaluation.subsets import mean_pair_frequency
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.identity import learns_from
from mpbert.experiments.outputs import outdated
from mpbert.experiments.seeds import takes_seeds
from mpbert.experiments.statements import division_of, statements_of
from mpbert.foundation.errors import ConfigError, RunError
from mpbert.foundation.manifest import fingerprint
from mpbert.foundation.progress import progress

_CUTOFFS = (*range(1, 10), *range(10, 101, 10))  # ranks of self-citation


@dataclass(frozen=True)
class ReportPlan:
    """What is measured, and how.

    :param split: whose queries are measured.
    :param task: ``local`` or ``global``.
    :param cluster: ``paper`` or ``query``: what is resampled as a whole.
    :param claims: and ``paper_tables``, of papers, for the corpus.
    """

    experiment: Experiment
    split: str = "test"
    task: str = "local"
    cluster: str = "paper"
    seed: int = 1
    claims: Sequence[Claim] = ()
    paper_tables: Sequence[PaperTable] = ()

    def run_of(self, variant: Variant) -> Path:
        """Return the run of the split."""
        return self.experiment.runs(variant) / f"{self.split}.run"

    def variants(self) -> list[Variant]:
        """Return the rows of the task that are for the corpus, or were made there anyway."""
        chosen = [self.experiment.variant(name) for name in self.experiment.rows]
        return [
            variant
            for variant in chosen
            if variant.row.task == self.task
            and (variant.row.is_for(self.experiment.corpus.name) or self.run_of(variant).exists())
        ]

    def other_seeds(self, variant: Variant) -> list[Variant]:
        """Return the row with the seeds from 2 on, up to the first whose run lacks."""
        found: list[Variant] = []
        while takes_seeds(self.experiment, variant.row.name):
            other = dataclasses.replace(variant, seed=len(found) + 2)
            if not self.run_of(other).exists():
                break
            found.append(other)
        return found


def measure_rows(plan: ReportPlan) -> Report:
    """Measure all rows of a report.

    :raises RunError: a run is malformed, or names unknown queries or papers.
    :raises ConfigError: no row was run.
    """
    experiment, variants = plan.experiment, plan.variants()
    corpus = experiment.corpus
    store = CorpusStore(corpus)
    qrels = read_qrels(corpus / qrels_name(plan.task, plan.split))
    authors = author_matrix(store.authors)
    statements = statements_of(experiment, plan.task, plan.claims, plan.paper_tables)
    planned = [(variant, _planned(plan, variant)) for variant in variants]
    measured = [
        _measured(plan, variant, row, store, qrels, authors)
        for variant, row in progress(planned, "report", "row")
    ]
    if all(row.judged is None for row in measured):
        raise ConfigError(
            f"none of {len(measured)} rows was run on {corpus.name} (looked for "
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
        division_of(corpus),
    )
    return build_report(setting, _queries(plan, store, qrels), measured, statements=statements)


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
    problem = outdated(experiment, variant)
    remarks = [f"the settings of this report are not those of its run; {problem}"] * bool(problem)
    for other in plan.other_seeds(variant):
        if problem := outdated(experiment, other):
            remarks.append(f"seed {other.seed}: {problem}")
    if learns_from(row, variant.settings) == plan.split:
        remarks.append("learnt from these very queries, so it cannot be compared with the others")
    return MeasuredRow(
        row.name,
        row.title,
        row.note,
        remarks=tuple(remarks),
        settings=variant.settings,
        tuned=experiment.tuned.rows.get(row.name),
        published=row.published,
    )


def _measured(
    plan: ReportPlan,
    variant: Variant,
    row: MeasuredRow,
    store: CorpusStore,
    qrels: Qrels,
    authors: sparse.csr_array,
) -> MeasuredRow:
    """Return a row with its rankings; as it is where it was not run."""
    path, depth = plan.run_of(variant), DEPTH[plan.task]
    if not path.exists():
        return row
    ranked = read_run(path)
    judged = judge(ranked, qrels, depth, str(path), pool=store.paper_ids)
    others = [
        judge(read_run(other), qrels, depth, str(other), pool=store.paper_ids)
        for other in map(plan.run_of, plan.other_seeds(variant))
    ]
    remarks = [*row.remarks, *_remarks(judged, ranked, plan.task, store.num_papers)]
    for seed, other in enumerate(others, start=2):
        remarks += [f"seed {seed}: {remark}" for remark in _missing(other)]
    row = dataclasses.replace(row, judged=judged, other_seeds=others, remarks=tuple(remarks))
    if not authors.nnz:
        return row
    queries = store.queries(plan.split, plan.task)
    rows, _ = matrices_of_run(ranked, queries.query_ids, store.paper_ids, str(path))
    shared = shares_author(authors, queries.citing_rows, rows[:, : _CUTOFFS[-1]])
    return dataclasses.replace(row, self_citation=self_citation(shared, _CUTOFFS))


def _remarks(judged: Judged, ranked: Run, task: str, num_papers: int) -> list[str]:
    remarks = _missing(judged)
    shortest = min(judged.depths[judged.depths > 0], default=0)
    if 0 < shortest < min(DEPTH[task], num_papers - 1):
        remarks.append(f"its shortest list has {shortest} papers, so Recall@k is flat beyond")
    if times := times_citing_paper_ranked(ranked, task):
        remarks.append(f"ranks the citing paper itself for {times:,} queries")
    return remarks


def _missing(judged: Judged) -> list[str]:
    """Return a remark where a run lacks queries."""
    missing = judged.num_missing
    return [f"{missing:,} queries are missing in its run and count 0"] * bool(missing)


def _queries(plan: ReportPlan, store: CorpusStore, qrels: Qrels) -> MeasuredQueries:
    citing_ids = citing_papers(qrels.query_ids, plan.task)
    _refuse_unknown(plan, store, [*citing_ids, *qrels.paper_ids])
    train = store.contexts("train")
    counts = cocitation_counts(train.cited_offsets, train.cited_rows, store.num_papers)
    gold_rows = np.array([store.row_of[paper] for paper in qrels.paper_ids])[qrels.codes]
    return MeasuredQueries(
        num_gold(qrels),
        citing_ids,
        store.years[[store.row_of[paper] for paper in citing_ids]],
        mean_pair_frequency(qrels.offsets, gold_rows, counts),
    )


def _refuse_unknown(plan: ReportPlan, store: CorpusStore, papers: Sequence[str]) -> None:
    unknown = [paper for paper in papers if paper not in store.row_of]
    if unknown:
        raise RunError(
            f"{plan.experiment.corpus / qrels_name(plan.task, plan.split)}: names the paper "
            f"{unknown[0]!r}, which the corpus lacks; expected queries like 'paper#12', build the "
            f"corpus again"
        )
