"""Candidates of Citeomatic: near papers and all they cite: Bhagavatula et al. (NAACL 2018), Sec. 3.

"Following Strohman et al. (2007), we also include the outgoing citations of the K nearest neighbors
as candidates." Papers later than the query's are none, as in the code (``candidate_selectors.py``);
``later=keep`` keeps them.

Whose citations are known: those of training papers, and those of any paper that is older than the
query's. The query's own paper is no candidate, and its citations are never read.

An added paper that the ranking has further down keeps its score. One that the ranking lacks comes
after all others, in the order of the first paper that cites it; their scores stay within a tenth
of the range of the scores above them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.methods.fusion.reranker import places_in, ranking_of, union
from mpbert.methods.reranking import RERANKERS, Ranking, Reranker

_TAIL = 0.1  # of the range of scores, for papers that the ranking lacks


@RERANKERS.register
@dataclass
class CitationCandidates(Reranker):
    """The first papers of a ranking, and all that they cite.

    The settings: ``k``, how many papers are first; ``rest``, whether the other papers of the
    ranking are candidates too, which the paper's are not; ``later`` papers than the query's.
    """

    name: ClassVar[str] = "citation_candidates"
    k: int = 10
    rest: str = setting("drop", choices=("drop", "keep"))
    later: str = setting("drop", choices=("drop", "keep"))

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the candidates; a query without papers has none."""
        ranking = rankings[0]
        if self.later == "drop":
            late = store.years[ranking.rows] > queries.years[:, None]
            ranking = without(ranking, late)
        first = ranking.first(self.k)
        added = outgoing(store, queries, first)
        if self.later == "drop":
            added = without(added, store.years[added.rows] > queries.years[:, None])
        found = union([first if self.rest == "drop" else ranking, added], store.num_papers)
        scores = _scores(
            places_in(found, ranking, store.num_papers),
            places_in(found, added, store.num_papers),
            ranking,
            found.queries,
        )
        return ranking_of(found, scores)


def outgoing(store: CorpusStore, queries: Queries, first: Ranking) -> Ranking:
    """Return what the papers of a ranking cite, once each, by the first paper that cites it.

    :param first: (Q, K).
    :returns: (Q, M) papers; scores are no more than their order.
    """
    citing, cited = store.citations()
    starts = np.searchsorted(citing, np.arange(store.num_papers + 1))  # sorted by citing row
    query, rank = np.nonzero(first.rows >= 0)
    paper = first.rows[query, rank]
    is_known = store.paper_splits[paper] == "train"
    is_known |= store.years[paper] < queries.years[query]
    is_known &= paper != queries.citing_rows[query]
    query, rank, paper = query[is_known], rank[is_known], paper[is_known]
    lengths = np.diff(starts)[paper]
    found = cited[ranges(starts[paper], lengths)].astype(np.int64)
    query, rank = np.repeat(query, lengths), np.repeat(rank, lengths)
    other = found != queries.citing_rows[query]
    query, rank, found = query[other], rank[other], found[other]
    order = np.lexsort((found, rank, query))
    keys = query[order] * store.num_papers + found[order]
    once = np.sort(np.unique(keys, return_index=True)[1])  # the first place of each pair
    query, found = query[order][once], found[order][once]
    return _lists(query, found, len(queries))


def without(ranking: Ranking, dropped: np.ndarray) -> Ranking:
    """Return a ranking without some papers.

    :param dropped: (Q, K).
    """
    kept = (ranking.rows >= 0) & ~dropped
    query, rank = np.nonzero(kept)
    left = _lists(query, ranking.rows[query, rank], len(ranking.rows))
    scores = np.full(left.rows.shape, -np.inf)
    scores[left.rows >= 0] = ranking.scores[query, rank]
    return Ranking(left.rows, scores)


def _lists(query: np.ndarray, papers: np.ndarray, num_queries: int) -> Ranking:
    lengths = np.bincount(query, minlength=num_queries)
    shape = num_queries, int(lengths.max(initial=1))
    rows, scores = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf)
    place = np.arange(len(query)) - offsets_of(lengths)[:-1][query]
    rows[query, place], scores[query, place] = papers, -place
    return Ranking(rows, scores)


def _scores(
    ranked: np.ndarray, added: np.ndarray, ranking: Ranking, query: np.ndarray
) -> np.ndarray:
    """Return (M,) scores of candidates.

    :param ranked: (M,) their ranks in the ranking, from 0, or -1; ``added`` (M,) in what is added.
    :param query: (M,) their queries.
    """
    has = ranking.rows >= 0
    best = np.where(has, ranking.scores, -np.inf).max(axis=1, initial=-np.inf)
    worst = np.where(has, ranking.scores, np.inf).min(axis=1, initial=np.inf)
    best, worst = (np.where(has.any(axis=1), bound, 0.0) for bound in (best, worst))
    tail = np.where(best > worst, best - worst, 1.0) * _TAIL
    below = worst[query] - tail[query] * (added + 1) / (np.maximum(added, 0) + 2)
    return np.where(ranked >= 0, ranking.scores[query, ranked], below)
