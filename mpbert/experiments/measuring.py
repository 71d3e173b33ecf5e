"""Measure the rows of a report: their runs beside the qrels, and what a reader should know."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from mpbert.corpus.cocitation import cocitation_counts
from mpbert.corpus.queries import qrels_name
from mpbert.corpus.repeats import Repeats, repeats_of
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import Qrels, Run, matrices_of_run, read_qrels, read_run
from mpbert.evaluation.build import build_report
from mpbert.evaluation.evaluate import (
    Judged,
    citing_papers,
    judge,
    num_gold,
    part_in_qrels,
    times_citing_paper_ranked,
    times_newer_ranked,
)
from mpbert.evaluation.report import DEPTH, MeasuredQueries, MeasuredRow, Report, Setting
from mpbert.evaluation.self_citation import author_matrix, self_citation, shares_author
from mpbert.evaluation.subsets import mean_pair_frequency
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.identity import learns_from
from mpbert.experiments.outputs import outdated
from mpbert.experiments.pretrained_texts import remarks_on_reading
from mpbert.experiments.seeds import family_of, is_trained, takes_seeds
from mpbert.foundation.errors import ConfigError, RunError
from mpbert.foundation.manifest import MANIFEST, fingerprint, read_manifest
from mpbert.foundation.progress import progress
from mpbert.retrieval.pool import num_candidates

_CUTOFFS = (*range(1, 10), *range(10, 101, 10))  # ranks of self-citation


@dataclass(frozen=True)
class ReportPlan:
    """What is measured, and how.

    :param split: whose queries are measured.
    :param task: ``local`` or ``global``.
    :param cluster: ``paper`` or ``query``: what is resampled as a whole.
    :param queries: ``distinct``, contexts that repeat another do not count, or ``all``.
    """

    experiment: Experiment
    split: str = "test"
    task: str = "local"
    cluster: str = "paper"
    seed: int = 1
    queries: str = "distinct"

    def qrels(self, store: CorpusStore) -> Path:
        """Return the file of what the queries that count cite."""
        counted = self.queries if store.knows_repeats else "distinct"  # one file has all of them
        return store.path / qrels_name(self.task, self.split, counted)

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
        while takes_seeds(self.experiment.rows, variant.row.name):
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
    qrels = read_qrels(plan.qrels(store))
    authors = author_matrix(store.authors)
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
        experiment.pool,
        _split_by(corpus),
        plan.queries,
        _repeats(plan, store),
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
    given = read_run(path)
    judged = judge(given, qrels, depth, str(path), pool=store.paper_ids)
    ranked = part_in_qrels(given, qrels)
    others = [
        judge(read_run(other), qrels, depth, str(other), pool=store.paper_ids)
        for other in map(plan.run_of, plan.other_seeds(variant))
    ]
    remarks = [*row.remarks, *_remarks(plan, judged, ranked, store, qrels)]
    queries = store.queries(plan.split, plan.task)
    if unknown := len(set(given.query_ids).difference(queries.query_ids)):
        remarks.append(f"{unknown:,} queries of its run are none of the split, and do not count")
    for seed, other in enumerate(others, start=2):
        remarks += [f"seed {seed}: {remark}" for remark in _missing(other)]
    row = dataclasses.replace(row, judged=judged, other_seeds=others, remarks=tuple(remarks))
    if not authors.nnz:
        return row
    if plan.queries == "distinct":
        queries = queries.distinct()
    rows, _ = matrices_of_run(ranked, queries.query_ids, store.paper_ids, str(path))
    shared = shares_author(authors, queries.citing_rows, rows[:, : _CUTOFFS[-1]])
    return dataclasses.replace(row, self_citation=self_citation(shared, _CUTOFFS))


def _remarks(
    plan: ReportPlan, judged: Judged, ranked: Run, store: CorpusStore, qrels: Qrels
) -> list[str]:
    remarks = _missing(judged)
    pool, depths = plan.experiment.pool, judged.depths
    candidates = num_candidates(store.years, _years(store, qrels.query_ids, plan.task), pool)
    shorter = (depths > 0) & (depths < np.minimum(DEPTH[plan.task], candidates))
    if shorter.any():
        shortest = depths[shorter].min()
        remarks.append(f"its shortest list has {shortest} papers, so Recall@k is flat beyond")
    if times := times_citing_paper_ranked(ranked, plan.task):
        remarks.append(f"ranks the citing paper itself for {times:,} queries")
    paper_years = store.years[[store.row_of[paper] for paper in ranked.paper_ids]]
    newer = times_newer_ranked(ranked, paper_years, _years(store, ranked.query_ids, plan.task))
    if newer and pool == "known":
        remarks.append(f"ranks papers newer than the manuscript for {newer:,} queries")
    return remarks


def _years(store: CorpusStore, query_ids: Sequence[str], task: str) -> np.ndarray:
    """Return (Q,) the years of the papers of queries."""
    return store.years[[store.row_of[paper] for paper in citing_papers(query_ids, task)]]


def _split_by(corpus: Path) -> str:
    """Return how the papers of a corpus were split; empty where its manifest does not tell."""
    if not (corpus / MANIFEST).is_file():
        return ""
    return str(read_manifest(corpus).get("config", {}).get("split", ""))


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
    years = _years(store, qrels.query_ids, plan.task)
    is_newer = store.years[gold_rows] > np.repeat(years, num_gold(qrels))
    return MeasuredQueries(
        num_gold(qrels),
        citing_ids,
        years,
        mean_pair_frequency(qrels.offsets, gold_rows, counts),
        num_candidates(store.years, years, plan.experiment.pool),
        np.add.reduceat(is_newer, qrels.offsets[:-1], dtype=np.int64),
    )


def _repeats(plan: ReportPlan, store: CorpusStore) -> Repeats | None:
    """Return which queries repeat another; None where nobody looked for them."""
    if plan.task == "local" and store.knows_repeats:
        return repeats_of(store, plan.split)
    return None


def _refuse_unknown(plan: ReportPlan, store: CorpusStore, papers: Sequence[str]) -> None:
    unknown = [paper for paper in papers if paper not in store.row_of]
    if unknown:
        raise RunError(
            f"{plan.qrels(store)}: names the paper "
            f"{unknown[0]!r}, which the corpus lacks; expected queries like 'paper#12', build the "
            f"corpus again"
        )
