"""The result of one row and seed: of its run, or as it was kept."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mpbert.corpus.answer_confidence import read_confidence_file
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import Qrels, Run, matrices_of_run, read_qrels, read_run
from mpbert.evaluation.evaluate import (
    Judged,
    citing_papers,
    judge,
    part_in_pool,
    part_in_qrels,
    times_citing_paper_ranked,
    times_newer_ranked,
)
from mpbert.evaluation.reliability import Reliability, reliability
from mpbert.evaluation.report import DEPTH
from mpbert.evaluation.self_citation import author_matrix, self_citation, shares_author
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.kept import KeptRun, recipe_of, subject_of
from mpbert.experiments.outputs import outdated
from mpbert.experiments.report_plan import ReportPlan
from mpbert.experiments.row_cost import cost_with_inputs
from mpbert.foundation.errors import RunError
from mpbert.foundation.manifest import MANIFEST, read_manifest
from mpbert.methods.learnt_features import remark_on_learnt
from mpbert.retrieval.pool import num_candidates

if TYPE_CHECKING:  # to tell types
    from scipy import sparse

_CUTOFFS = (*range(1, 10), *range(10, 101, 10))  # ranks of self-citation


@dataclass(frozen=True)
class Source:
    """What all rows are measured with.

    :param store: the corpus.
    :param qrels: of the queries that count.
    :param qrels_of_all: of all that the runs rank.
    :param counted: (Q,) places of those that count, among all.
    :param authors: (N, A) of :func:`author_matrix`.
    :param subject: of :func:`subject_of`.
    """

    store: CorpusStore
    qrels: Qrels
    qrels_of_all: Qrels
    counted: np.ndarray
    authors: "sparse.csr_array"
    subject: Mapping[str, str | int]


def source_of(plan: ReportPlan, store: CorpusStore) -> Source:
    """Return what all rows are measured with."""
    experiment, qrels = plan.experiment, read_qrels(plan.qrels(store))
    qrels_of_all = read_qrels(plan.qrels(store, "all"))
    place_of = {query: place for place, query in enumerate(qrels_of_all.query_ids)}
    counted = np.array([place_of[query] for query in qrels.query_ids], dtype=np.int64)
    name, depth = experiment.corpus.name, DEPTH[plan.task]
    known = zip(store.paper_ids, store.years.tolist(), store.paper_splits.tolist(), strict=True)
    papers = [f"{paper} {year} {part}" for paper, year, part in known]
    train = store.contexts("train")
    training = [f"{query} {train.cited(i).tolist()}" for i, query in enumerate(train.query_ids)]
    subject = subject_of(name, plan.split, plan.task, depth, qrels_of_all, papers, training)
    subject["pool"] = experiment.pool
    return Source(store, qrels, qrels_of_all, counted, author_matrix(store.authors), subject)


def result_of(plan: ReportPlan, variant: Variant, source: Source) -> KeptRun:
    """Return the result of a run, or the one that was kept of it, of the queries that count.

    :raises RunError: the run or the kept result is malformed, or of another corpus, or the result
        of a run of another pool is to be kept.
    :raises OutputError: the result cannot be kept.
    """
    recipe = recipe_of(plan.experiment, variant)
    if plan.kept and plan.is_kept(variant):
        found = plan.kept.read(variant.name, source.subject)
        other = [name for name in recipe if found.recipe.get(name) != recipe[name]]
        remark = f"measured earlier with other settings than these of {', '.join(other)}"
        remarks: Sequence[str] = found.remarks  # of the queries that counted then
        if found.counted != plan.queries:
            remarks = [f"{each} (of {found.counted} queries)" for each in remarks]
            found = dataclasses.replace(found, self_citation=None, reliability=None)
        return dataclasses.replace(
            found,
            judged=found.judged.take(source.counted),
            remarks=(*[remark] * bool(other), *remarks),
        )
    if plan.kept:
        _refuse_other_pool(plan, variant)
    found = _result_of_run(plan, variant, source)
    if plan.kept:
        name = variant.row.name
        found = dataclasses.replace(
            found,
            settings=variant.settings,
            recipe=recipe,
            counted=plan.queries,
            cost=cost_with_inputs(plan.experiment, name) if variant.seed == 1 else None,
        )
        plan.kept.put(variant.name, found, source.subject)
    return dataclasses.replace(found, judged=found.judged.take(source.counted))


def remarks_on_run(experiment: Experiment, variant: Variant, split: str) -> tuple[str, ...]:
    """Return what a reader should know of the run of a row.

    :raises RunError: it is malformed, or of another corpus or split.
    """
    plan = ReportPlan(experiment, split, variant.row.task)
    source = source_of(plan, CorpusStore(experiment.corpus))
    return _result_of_run(plan, variant, source).remarks


def _refuse_other_pool(plan: ReportPlan, variant: Variant) -> None:
    """Refuse to keep a result under the name of a pool that its run does not rank.

    :raises RunError: the run was made with another pool.
    """
    run, pool = plan.experiment.runs(variant), plan.experiment.pool
    manifest = read_manifest(run) if (run / MANIFEST).is_file() else {}
    made = manifest.get("config", {}).get("pool", pool)
    if made != pool:
        raise RunError(
            f"{run}: found a run of pool {made}; expected {pool}: give --pool {made}, or move the "
            f"run away and make it again with --pool {pool}"
        )


def _result_of_run(plan: ReportPlan, variant: Variant, source: Source) -> KeptRun:
    """Measure a run, of all queries; what lies around the rankings is of those that count.

    That is found for the first seed alone.
    """
    path, store, depth = plan.run_of(variant), source.store, DEPTH[plan.task]
    given, pool = read_run(path), store.paper_ids
    inside = part_in_pool(given, pool) if variant.row.run else given
    of_others = variant.row.run and inside.paper_ids  # its papers need not all be known here
    judged = judge(given, source.qrels_of_all, depth, str(path), None if of_others else pool)
    counted = judged.take(source.counted)
    remarks = [problem] if (problem := outdated(plan.experiment, variant)) else []
    if variant.seed > 1:
        return KeptRun(judged, remarks=(*remarks, *_missing(counted)))
    remarks = [f"the settings of this report are not those of its run; {each}" for each in remarks]
    ranked, queries = part_in_qrels(inside, source.qrels), store.queries(plan.split, plan.task)
    remarks += _remarks(plan, counted, ranked, store, source.qrels)
    remarks += _unknown_papers(given, inside)
    remarks += [] if variant.row.run else remark_on_learnt(path.parent)
    if unknown := len(set(given.query_ids).difference(queries.query_ids)):
        remarks.append(f"{unknown:,} queries of its run are none of the split, and do not count")
    sure = _reliability(path, counted, source.qrels.query_ids)
    if not source.authors.nnz:
        return KeptRun(judged, remarks=tuple(remarks), reliability=sure)
    if plan.queries == "distinct":
        queries = queries.distinct()
    rows, _ = matrices_of_run(ranked, queries.query_ids, store.paper_ids, str(path))
    shared = shares_author(source.authors, queries.citing_rows, rows[:, : _CUTOFFS[-1]])
    own = self_citation(shared, _CUTOFFS)
    return KeptRun(judged, remarks=tuple(remarks), self_citation=own, reliability=sure)


def _reliability(run: Path, judged: Judged, query_ids: Sequence[str]) -> Reliability | None:
    """Return how far the probabilities beside a run can be relied upon; None: there are none."""
    found = read_confidence_file(run, query_ids)
    return found if found is None else reliability(found[:, 0], judged.hits[:, 0], *found.T[1:])


def years_of(store: CorpusStore, query_ids: Sequence[str], task: str) -> np.ndarray:
    """Return (Q,) the years of the papers of queries."""
    return store.years[[store.row_of[paper] for paper in citing_papers(query_ids, task)]]


def _remarks(
    plan: ReportPlan, judged: Judged, ranked: Run, store: CorpusStore, qrels: Qrels
) -> list[str]:
    remarks = _missing(judged)
    pool, depths = plan.experiment.pool, judged.depths
    candidates = num_candidates(store.years, years_of(store, qrels.query_ids, plan.task), pool)
    shorter = (depths > 0) & (depths < np.minimum(DEPTH[plan.task], candidates))
    if shorter.any():
        shortest = depths[shorter].min()
        remarks.append(f"its shortest list has {shortest} papers, so Recall@k is flat beyond")
    if times := times_citing_paper_ranked(ranked, plan.task):
        remarks.append(f"ranks the citing paper itself for {times:,} queries")
    paper_years = store.years[[store.row_of[paper] for paper in ranked.paper_ids]]
    newer = times_newer_ranked(ranked, paper_years, years_of(store, ranked.query_ids, plan.task))
    if newer and pool == "known":
        remarks.append(f"ranks papers newer than the manuscript for {newer:,} queries")
    return remarks


def _unknown_papers(given: Run, inside: Run) -> list[str]:
    """Return a remark where a run of another system ranks papers that the corpus lacks."""
    unknown = sorted(set(given.paper_ids).difference(inside.paper_ids))
    if not unknown:
        return []
    times = len(given.codes) - len(inside.codes)
    return [
        f"ranks {len(unknown):,} papers that the corpus lacks, such as {unknown[0]}, {times:,} "
        f"times; they count as not relevant"
    ]


def _missing(judged: Judged) -> list[str]:
    """Return a remark where a run lacks queries."""
    missing = judged.num_missing
    return [f"{missing:,} queries are missing in its run and count 0"] * bool(missing)
