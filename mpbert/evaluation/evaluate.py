"""A run beside the qrels: which ranks hold relevant papers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.trec import Qrels, Run
from mpbert.evaluation.measures import depth_needed, mean_measure
from mpbert.evaluation.subsets import subsets_by_num_gold
from mpbert.foundation.errors import RunError
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers

_NAMED = 3  # unknown ids that a message names


@dataclass(frozen=True)
class Judged:
    """The judged ranking of every query of the qrels.

    :param hits: (Q, K) whether the paper at each rank is relevant; False beyond the end of a list.
    :param depths: (Q,) number of ranked papers, at most K; 0 where the run lacks the query.
    """

    hits: np.ndarray
    depths: np.ndarray

    @property
    def num_missing(self) -> int:
        """Number of queries that the run lacks; each of their measures is 0."""
        return int((self.depths == 0).sum())

    def take(self, places: np.ndarray) -> "Judged":
        """Return the rankings of some of the queries, in the order given."""
        return Judged(self.hits[places], self.depths[places])


@dataclass(frozen=True)
class RunScore:
    """One measure of a run on one subset of the queries.

    :param subset: ``P=1``, ``P>=1`` (all queries) or ``P>=2``, by the papers that a query cites.
    :param queries: number of queries of the subset; ``missing`` of them are not in the run and
        count 0.
    :param mean: from 0 to 1; NaN where the subset has no query.
    """

    measure: str
    subset: str
    queries: int
    missing: int
    mean: float


def evaluate(
    qrels: Qrels,
    run: Run,
    measures: Sequence[str],
    source: str = "this run",
    each_citation: bool = False,
) -> list[RunScore]:
    """Measure one run; ``pandas.DataFrame`` takes the list as it is.

    :param measures: such as ``Recall@10``, see :mod:`mpbert.evaluation.measures`.
    :param source: what the messages call the run.
    :param each_citation: whether each cited paper is a query, see :func:`of_each_citation`.
    :returns: by measure, then by subset; queries that the qrels lack do not count.
    :raises ConfigError: a measure is unknown.
    :raises RunError: the qrels lack all queries of the run.
    """
    depth = min(depth_needed(measures, run.longest), run.longest)
    judged, gold = judge(run, qrels, depth, source), num_gold(qrels)
    subsets = subsets_by_num_gold(gold)
    if each_citation:
        subsets = subsets_by_num_gold(np.repeat(gold, gold))
        judged, gold = of_each_citation(judged, gold), np.ones(gold.sum(), dtype=np.int64)
    missing = judged.depths == 0
    scores = []
    for name in measures:
        for subset in subsets:
            mask, mean = subset.mask, float("nan")
            if len(subset):
                mean = mean_measure(name, judged.hits[mask], gold[mask], whole=True)
            num_missing = int((missing & mask).sum())
            scores.append(RunScore(name, subset.name, len(subset), num_missing, mean))
    return scores


def of_each_citation(judged: Judged, num_gold: np.ndarray) -> Judged:
    """Return C rankings, one for each cited paper, beside which all others count as not relevant.

    Files with one cited paper a context, as of DualLCR (Medić and Šnajder, SDP 2020), count so.

    :param num_gold: (Q,) number of relevant papers; C is their sum.
    """
    queries, ranks = np.nonzero(judged.hits)
    found = np.bincount(queries, minlength=len(num_gold))
    hits = np.zeros((int(num_gold.sum()), judged.hits.shape[1]), dtype=bool)
    hits[ranges(offsets_of(num_gold)[:-1], found), ranks] = True
    return Judged(hits, np.repeat(judged.depths, num_gold))


def judge(
    run: Run, qrels: Qrels, depth: int, source: str = "this run", pool: Sequence[str] | None = None
) -> Judged:
    """Look up the first papers of every query in the qrels.

    Queries that the qrels lack are left out, as trec_eval does.

    :param depth: K, ranks to look at.
    :param source: what the messages call the run.
    :param pool: ids of all candidates, where the run is to be checked for others.
    :raises RunError: the qrels lack all queries of the run, or it has papers outside the pool.
    """
    if pool is not None:
        _refuse_papers_outside(source, run, pool)
    run = part_in_qrels(run, qrels, source)
    queries = _places(run.query_ids, qrels.query_ids)
    kept = np.minimum(np.diff(run.offsets), depth)
    depths = np.zeros(len(qrels), dtype=np.int64)
    depths[queries] = kept
    papers = _places(run.paper_ids, qrels.paper_ids)[run.codes[ranges(run.offsets[:-1], kept)]]
    owners = np.repeat(queries, kept)
    gold = np.sort(row_numbers(np.diff(qrels.offsets)) * len(qrels.paper_ids) + qrels.codes)
    keys = owners * len(qrels.paper_ids) + papers
    found = np.minimum(np.searchsorted(gold, keys), len(gold) - 1)
    hits = np.zeros((len(qrels), depth), dtype=bool)
    hits[owners, ranges(np.zeros_like(kept), kept)] = (papers >= 0) & (gold[found] == keys)
    return Judged(hits, depths)


def part_in_qrels(run: Run, qrels: Qrels, source: str = "this run") -> Run:
    """Return the rankings of those queries that the qrels hold.

    :param source: what the messages call the run.
    :raises RunError: there is none, though the run has queries.
    """
    known = np.flatnonzero(_places(run.query_ids, qrels.query_ids) >= 0)
    if len(run) and not len(known):
        raise RunError(
            f"{source}: found none of the {len(qrels):,} queries of the qrels, but "
            f"{_named(run.query_ids)}; expected a run of the same corpus and split"
        )
    return run if len(known) == len(run) else run.take(known)


def remark_on_ids(run: Run, qrels: Qrels) -> str:
    """Return what a reader should know of a run that ranks no paper of the qrels, else nothing."""
    if not run.paper_ids or (_places(run.paper_ids, qrels.paper_ids) >= 0).any():
        return ""
    return (
        f"ranks {len(run.paper_ids):,} papers, none of which any query of the qrels cites: "
        f"{_named(run.paper_ids)} there, {_named(qrels.paper_ids)} in the qrels; are these ids of "
        f"another corpus?"
    )


def part_in_pool(run: Run, pool: Sequence[str]) -> Run:
    """Return the rankings without papers outside the pool; a list may have none left.

    :param pool: ids of all candidates.
    """
    known = _places(run.paper_ids, pool) >= 0
    kept = known[run.codes]
    lengths = np.bincount(row_numbers(np.diff(run.offsets))[kept], minlength=len(run))
    ids = [run.paper_ids[place] for place in np.flatnonzero(known)]
    codes = (np.cumsum(known) - 1)[run.codes[kept]]
    return Run(run.query_ids, offsets_of(lengths), ids, codes, run.scores[kept])


def num_gold(qrels: Qrels) -> np.ndarray:
    """Return (Q,) the number of relevant papers of each query, at least 1."""
    return np.diff(qrels.offsets)


def citing_papers(query_ids: Sequence[str], task: str) -> list[str]:
    """Return the paper of each query, ``citing_id#position``; that of a whole paper is its id."""
    if task == "global":  # where an id may hold a # of its own
        return list(query_ids)
    return [query.rpartition("#")[0] or query for query in query_ids]


def times_citing_paper_ranked(run: Run, task: str) -> int:
    """Return for how many queries of a task the citing paper itself is ranked."""
    citing = _places(citing_papers(run.query_ids, task), run.paper_ids)
    return int((np.repeat(citing, np.diff(run.offsets)) == run.codes).sum())


def times_newer_ranked(run: Run, paper_years: np.ndarray, years: np.ndarray) -> int:
    """Return for how many queries a paper newer than the manuscript is ranked.

    :param paper_years: (P,) years of ``run.paper_ids``.
    :param years: (Q,) years of the manuscripts of ``run.query_ids``.
    """
    queries = row_numbers(np.diff(run.offsets))
    return len(np.unique(queries[paper_years[run.codes] > years[queries]]))


def _places(ids: Sequence[str], known: Sequence[str]) -> np.ndarray:
    """Return the place of each id among the known ones, -1 where it is unknown."""
    places = pc.index_in(pa.array(ids, pa.string()), pa.array(known, pa.string()))
    return pc.fill_null(places, -1).to_numpy().astype(np.int64)


def _refuse_papers_outside(source: str, run: Run, pool: Sequence[str]) -> None:
    unknown = np.flatnonzero(_places(run.paper_ids, pool) < 0)
    if len(unknown):
        names = _named([run.paper_ids[i] for i in unknown])
        raise RunError(
            f"{source}: found {len(unknown):,} unknown paper ids ({names}); "
            f"expected ids of the corpus only: check that both are of the same corpus and split"
        )


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return ", ".join(map(repr, ids[:_NAMED])) + more
