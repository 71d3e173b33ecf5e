"""Measure the rows of a report: their runs beside the qrels, and what a reader should know."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from mpbert.corpus.cocitation import cocitation_counts
from mpbert.corpus.queries import qrels_name
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import Qrels, Run, matrices_of_run, read_qrels, read_run
from mpbert.evaluation.build import build_report
from mpbert.evaluation.evaluate import (
    Judged,
    citing_papers,
    judge,
    num_gold,
    times_citing_paper_ranked,
)
from mpbert.evaluation.report import DEPTH, MeasuredQueries, MeasuredRow, Report, Setting
from mpbert.evaluation.self_citation import author_matrix, self_citation, shares_author
from mpbert.evaluation.subsets import mean_pair_frequency
from mpbert.experiments.cost import RowCost
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.identity import learns_from
from mpbert.experiments.kept import KeptRun, read_kept, recipe_of, subject_of, write_kept
from mpbert.experiments.outputs import outdated
from mpbert.experiments.row_cost import cost_with_inputs
from mpbert.experiments.seeds import takes_seeds
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
    :param kept: folder of results of :mod:`mpbert.experiments.kept`: those of runs that are here
        are written there, those of other runs are taken from there.
    """

    experiment: Experiment
    split: str = "test"
    task: str = "local"
    cluster: str = "paper"
    seed: int = 1
    kept: Path | None = None

    def run_of(self, variant: Variant) -> Path:
        """Return the run of the split."""
        return self.experiment.runs(variant) / f"{self.split}.run"

    def kept_file(self, variant: Variant) -> Path | None:
        """Return the file that is taken in place of the run, which is not here; None: no such."""
        path = self.kept and self.kept / f"{variant.name}.npz"
        return path if path and path.is_file() and not self.run_of(variant).exists() else None

    def is_known(self, variant: Variant) -> bool:
        """Whether the run is here, or its result was kept."""
        return self.run_of(variant).exists() or self.kept_file(variant) is not None

    def cost(self, name: str) -> RowCost | None:
        """Return what a row took, with all rows that it needs; None where that is not known."""
        path = self.kept_file(self.experiment.variant(name))
        return read_kept(path, {}).cost if path else cost_with_inputs(self.experiment, name)

    def variants(self) -> list[Variant]:
        """Return the rows of the task that are for the corpus, or were made there anyway."""
        chosen = [self.experiment.variant(name) for name in self.experiment.rows]
        return [
            variant
            for variant in chosen
            if variant.row.task == self.task
            and (variant.row.is_for(self.experiment.corpus.name) or self.is_known(variant))
        ]

    def other_seeds(self, variant: Variant) -> list[Variant]:
        """Return the row with the seeds from 2 on, up to the first that is not known."""
        found: list[Variant] = []
        while takes_seeds(self.experiment, variant.row.name):
            other = dataclasses.replace(variant, seed=len(found) + 2)
            if not self.is_known(other):
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
    source = _Source(store, qrels, author_matrix(store.authors), _subject(plan, store, qrels))
    planned = [(variant, _planned(plan, variant)) for variant in variants]
    measured = [
        _measured(plan, variant, row, source) for variant, row in progress(planned, "report", "row")
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
    )
    return build_report(setting, _queries(plan, store, qrels), measured)


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


@dataclass(frozen=True)
class _Source:
    """What all rows are measured with.

    :param authors: (N, A) of :func:`author_matrix`.
    :param subject: of :func:`subject_of`.
    """

    store: CorpusStore
    qrels: Qrels
    authors: sparse.csr_array
    subject: Mapping[str, str | int]


def _subject(plan: ReportPlan, store: CorpusStore, qrels: Qrels) -> dict[str, str | int]:
    name, depth = plan.experiment.corpus.name, DEPTH[plan.task]
    return subject_of(name, plan.split, plan.task, depth, qrels, store.paper_ids)


def _planned(plan: ReportPlan, variant: Variant) -> MeasuredRow:
    """Return a row with what is known without its run."""
    row, experiment = variant.row, plan.experiment
    remarks = []
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


def _measured(plan: ReportPlan, variant: Variant, row: MeasuredRow, source: _Source) -> MeasuredRow:
    """Return a row with its rankings; as it is where it was not run."""
    if not plan.is_known(variant):
        return row
    seeds = [variant, *plan.other_seeds(variant)]
    first, *others = (_result(plan, each, source) for each in seeds)
    remarks = [*row.remarks, *first.remarks]
    for seed, other in enumerate(others, start=2):
        remarks += [f"seed {seed}: {remark}" for remark in other.remarks]
    return dataclasses.replace(
        row,
        judged=first.judged,
        other_seeds=[other.judged for other in others],
        remarks=tuple(remarks),
        self_citation=first.self_citation,
        is_earlier=any(plan.kept_file(each) for each in seeds),
    )


def _result(plan: ReportPlan, variant: Variant, source: _Source) -> KeptRun:
    """Return the result of a run, or the one that was kept of it."""
    recipe = recipe_of(plan.experiment, variant)
    if path := plan.kept_file(variant):
        found = read_kept(path, source.subject)
        other = [name for name in recipe if found.recipe.get(name) != recipe[name]]
        remark = f"measured earlier with other settings than these of {', '.join(other)}"
        return dataclasses.replace(found, remarks=(*[remark] * bool(other), *found.remarks))
    found = _result_of_run(plan, variant, source)
    if plan.kept:
        name = variant.row.name
        found = dataclasses.replace(
            found,
            settings=variant.settings,
            recipe=recipe,
            cost=cost_with_inputs(plan.experiment, name) if variant.seed == 1 else None,
        )
        write_kept(plan.kept / f"{variant.name}.npz", found, source.subject)
    return found


def _result_of_run(plan: ReportPlan, variant: Variant, source: _Source) -> KeptRun:
    """Measure a run; what lies around the rankings is found for the first seed alone."""
    path, store = plan.run_of(variant), source.store
    ranked = read_run(path)
    judged = judge(ranked, source.qrels, DEPTH[plan.task], str(path), pool=store.paper_ids)
    remarks = [problem] if (problem := outdated(plan.experiment, variant)) else []
    if variant.seed > 1:
        return KeptRun(judged, remarks=(*remarks, *_missing(judged)))
    remarks = [f"the settings of this report are not those of its run; {each}" for each in remarks]
    remarks += _remarks(judged, ranked, plan.task, store.num_papers)
    if not source.authors.nnz:
        return KeptRun(judged, remarks=tuple(remarks))
    queries = store.queries(plan.split, plan.task)
    rows, _ = matrices_of_run(ranked, queries.query_ids, store.paper_ids, str(path))
    shared = shares_author(source.authors, queries.citing_rows, rows[:, : _CUTOFFS[-1]])
    own = self_citation(shared, _CUTOFFS)
    return KeptRun(judged, remarks=tuple(remarks), self_citation=own)


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
