"""Candidates of Citeomatic: near papers and all they cite: Bhagavatula et al. (NAACL 2018), Sec. 3.

"Following Strohman et al. (2007), we also include the outgoing citations of the K nearest neighbors
as candidates." Papers later than the query's are none, as in the code (``candidate_selectors.py``).

Known are the citations of training papers that are no later than the query's, and no others. The
query's own paper is no candidate, and its citations are never read.

All candidates have the score of the ranking, as in the code: one that is cited and scores higher
stands above a paper of the ranking. An added paper that the ranking has further down keeps its
score; one that it lacks is scored by the vectors behind the ranking (``rerank --scored-by``, in a
row ``vectors``). Without vectors it comes after all others, in the order of the first paper that
cites it; their scores then stay within a tenth of the range of the scores above them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.corpus.years import were_there
from mpbert.foundation.config import setting
from mpbert.foundation.ragged import ranges
from mpbert.methods.rankings import Ranking, ranking_of_pairs, union
from mpbert.methods.reranking import RERANKERS, Reranker

_TAIL = 0.1  # of the range of scores, for papers that the ranking lacks


@RERANKERS.register
@dataclass
class CitationCandidates(Reranker):
    """The first papers of a ranking, and all that they cite.

    The settings: ``k``, how many papers are first; ``rest``, whether the other papers of the
    ranking are candidates too, which the paper's are not.
    """

    name: ClassVar[str] = "citation_candidates"
    takes_vectors: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = ("k=5",)
    k: int = 10
    rest: str = setting("drop", choices=("drop", "keep"))

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the candidates; a query without papers has none."""
        years = queries.years[:, None]
        ranking = rankings[0].without(~were_there(store.years[rankings[0].rows], years))
        first = ranking.first(self.k)
        added = outgoing(store, queries, first)
        added = added.without(~were_there(store.years[added.rows], years))
        found = union([first if self.rest == "drop" else ranking, added], store.num_papers)
        ranked = found.places_in(ranking, store.num_papers)
        place = found.places_in(added, store.num_papers)
        scores = _scores(ranked, place, ranking, found.queries)
        lacking = np.flatnonzero(ranked < 0)
        if self.score_pairs is not None:
            scores[lacking] = self.score_pairs(found.queries[lacking], found.rows[lacking])
        return found.ranking(scores)


def outgoing(store: CorpusStore, queries: Queries, first: Ranking) -> Ranking:
    """Return what the papers of a ranking cite, once each, by the first paper that cites it.

    :param first: (Q, K); none is later than its query.
    :returns: (Q, M) papers; scores are no more than their order.
    """
    citing, cited = store.citations()
    starts = np.searchsorted(citing, np.arange(store.num_papers + 1))  # sorted by citing row
    query, rank = np.nonzero(first.rows >= 0)
    paper = first.rows[query, rank]
    is_known = (store.paper_splits[paper] == "train") & (paper != queries.citing_rows[query])
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
    return ranking_of_pairs(query, found, -np.arange(len(query)), len(queries))


def _scores(
    ranked: np.ndarray, added: np.ndarray, ranking: Ranking, query: np.ndarray
) -> np.ndarray:
    """Return (M,) scores of candidates.

    :param ranked: (M,) their ranks in the ranking, from 0, or -1; ``added`` (M,) in what is added.
    :param query: (M,) their queries.
    """
    has_any = (ranking.rows >= 0).any(axis=1)
    best, worst = (np.where(has_any, bound, 0.0) for bound in ranking.bounds())
    tail = np.where(best > worst, best - worst, 1.0) * _TAIL
    below = worst[query] - tail[query] * (added + 1) / (np.maximum(added, 0) + 2)
    return np.where(ranked >= 0, ranking.scores[query, ranked], below)
