"""Navigation: the candidates, and what they cite (Nogueira, Jiang, Cho and Lin, 2020, Sec. 3).

In each round the first kd papers D of the ranking stay, and up to kc papers C that they cite come
behind them: "we limit the number of papers in C to kc by incrementally removing citations from the
lowest-ranked papers in D". The new ranking is D, then C; whatever was ranked below kd is dropped.

What the paper leaves open, and what we do:

* *The order of D ∪ C.* A classifier ranks it anew, so none is given; its Fig. 1 writes D before C,
  and so do we. C is ordered as it is cut: by the rank of the best document that cites a paper,
  then by row. A paper of D is never in C, and one that several cite counts once.
* *Scores.* Those of D stay; those of C go on below them with the mean step of D.
* *Which citations.* Sec. 4.1 drops citations of papers that are later than the citing one. Beside
  that, a document lends its citations only if it is a training paper, and no later than the query's
  paper: no other method knows what validation and test papers cite. The query's own paper lends
  none and is never found.
* *A score of all candidates.* D before C leaves the first kd papers as they are, so that a
  classifier has to follow. With ``share`` (ours, not in the paper) none has to: the papers of the
  ranking and those of C are ranked together, by :func:`scored`.
* *Ranking between rounds.* Several rounds in one go each start from the order of the last one. To
  have a classifier between them, as in the paper, let ``rerank`` run once per round.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.corpus.years import were_there
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.methods.rankings import Ranking, places_of, union
from mpbert.methods.reranking import RERANKERS, Reranker

_ROUND = re.compile(r"(\d+)\+(\d+)")
_BLOCK = 1024  # queries expanded at once: the citations of all their candidates lie in memory


@dataclass(frozen=True)
class CitationGraph:
    """Who cites whom, without citations of later papers.

    :param offsets: (N + 1,), paper r cites ``cited[offsets[r]:offsets[r + 1]]``, ascending rows.
    :param cited: rows of cited papers.
    :param years: (N,), years of publication.
    :param is_training: (N,), whether a paper is of the training split.
    """

    offsets: np.ndarray
    cited: np.ndarray
    years: np.ndarray
    is_training: np.ndarray

    @classmethod
    def of(cls, store: CorpusStore) -> "CitationGraph":
        """Return the graph of a corpus."""
        citing, cited = store.citations()
        known = were_there(store.years[cited], store.years[citing])
        counts = np.bincount(citing[known], minlength=store.num_papers)
        is_training = np.asarray(store.paper_splits) == "train"
        return cls(offsets_of(counts), cited[known].astype(np.int64), store.years, is_training)

    @property
    def num_papers(self) -> int:
        """Number of papers, N."""
        return len(self.years)


@RERANKERS.register
@dataclass
class Navigation(Reranker):
    """The first papers of a ranking and those that they cite, for a reranker to sort.

    The settings: ``rounds``, as ``kd+kc`` each, with commas between; ``share``, what it counts that
    the first papers cite a paper: 0 for the order of the paper, D before C.
    """

    name: ClassVar[str] = "navigation"
    quick: ClassVar[tuple[str, ...]] = ("rounds=20+30,10+5",)
    rounds: str = setting("300+700")
    share: float = setting(0.0, minimum=0)

    def __post_init__(self) -> None:
        found = [_ROUND.fullmatch(part) for part in self.rounds.split(",")]
        self._rounds = [(int(m[1]), int(m[2])) for m in found if m]
        if not all(found) or min(map(min, self._rounds)) < 1:
            raise ConfigError(
                f"rounds={self.rounds}: expected kd+kc, both more than 0, with commas between "
                f"rounds, for example 300+700,700+300"
            )

    def check(self, store: CorpusStore) -> None:
        """Refuse a corpus without citations.

        :raises CorpusError: it has none.
        """
        if not len(store.citations()[0]):
            raise CorpusError(
                f"{store.path}: found no citation between papers; expected some to navigate along, "
                f"choose another reranker"
            )

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the expanded ranking."""
        graph, ranking = CitationGraph.of(store), rankings[0]
        for keep, add in self._rounds:
            if self.share:
                ranking = scored(graph, queries, ranking, keep, add, self.share)
            else:
                ranking = expand(graph, queries, ranking, keep, add)
        return ranking


def expand(
    graph: CitationGraph, queries: Queries, ranking: Ranking, keep: int, add: int
) -> Ranking:
    """Return one round of navigation.

    :param keep: kd, papers that stay.
    :param add: kc, most papers that come behind them.
    :returns: lists of at most kd + kc papers.
    """
    kept = ranking.first(keep)
    blocks = np.split(np.arange(len(queries)), range(_BLOCK, len(queries), _BLOCK))
    found = [cited_by(graph, queries.take(block), kept.rows[block], add) for block in blocks]
    counts = np.concatenate([np.zeros(0, np.int64), *(counts for _, counts in found)])
    rows = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in found)])
    return _appended(kept, rows, counts)


def scored(
    graph: CitationGraph, queries: Queries, ranking: Ranking, keep: int, add: int, share: float
) -> Ranking:
    """Return the papers of the ranking and those of C by one score.

        s(d) = b(d) / max b + share · Σ_{j in D, j cites d} b(j) / Σ_{j in D} b(j)

    b is the score of the ranking, as far above 0. A paper that the ranking lacks has the lowest
    score of the list, which is no less than its own. A document that lends no citations, see the
    module, is left out of both sums.

    :param share: of being cited, against the score of the first paper.
    """
    expanded = expand(graph, queries, ranking, keep, add)
    found = union([ranking, expanded], graph.num_papers)
    query, paper = found.queries, found.rows
    ranked = found.places_in(ranking, graph.num_papers)
    best, worst = (np.where(np.isfinite(x), np.maximum(x, 0), 0) for x in ranking.bounds())
    own = np.maximum(np.where(ranked >= 0, ranking.scores[query, ranked], worst[query]), 0)
    first = ranking.first(keep)
    lends = lends_citations(graph, queries, first.rows)
    weights = np.where(lends, np.maximum(first.scores, 0), 0.0)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    citing, rank = np.nonzero(lends)
    counts = np.diff(graph.offsets)[first.rows[citing, rank]]
    cited = graph.cited[ranges(graph.offsets[first.rows[citing, rank]], counts)]
    keys = np.repeat(citing, counts) * graph.num_papers + cited
    place = places_of(query * graph.num_papers + paper, keys)
    lent = np.repeat(weights[citing, rank], counts)
    cited_share = np.bincount(place[place >= 0], lent[place >= 0], minlength=len(query))
    scale = np.where(best > 0, best, 1.0)[query]
    return found.ranking(own / scale + share * cited_share)


def lends_citations(graph: CitationGraph, queries: Queries, documents: np.ndarray) -> np.ndarray:
    """Return (Q, K) whether the citations of a document may be known to a query; see the module.

    :param documents: (Q, K) rows; -1 beyond the end of a list.
    """
    known = were_there(graph.years[documents], queries.years[:, None])
    lends = graph.is_training[documents] & known
    return lends & (documents >= 0) & (documents != queries.citing_rows[:, None])


def cited_by(
    graph: CitationGraph, queries: Queries, documents: np.ndarray, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the papers which the documents of each query cite, by the rank of the citing one.

    :param documents: (Q, K) rows, best first; -1 beyond the end of a list.
    :param limit: most papers of a query.
    :returns: rows, one query after another, and (Q,) how many each has.
    """
    num_queries, width = documents.shape
    owners, ranks = np.nonzero(documents >= 0)
    rows = documents[owners, ranks]
    lends = lends_citations(graph, queries, documents)[owners, ranks]
    counts = np.where(lends, np.diff(graph.offsets)[rows], 0)
    cited = graph.cited[ranges(graph.offsets[rows], counts)]
    places = np.repeat(owners * width + ranks, counts)  # of the citing documents, best first
    # the first time that a query finds a paper is at its best-ranked citing document
    keys, first = np.unique(places // width * graph.num_papers + cited, return_index=True)
    by_place = np.sort(first[~np.isin(keys, owners * graph.num_papers + rows)])
    query = places[by_place] // width
    by_place, query = (x[cited[by_place] != queries.citing_rows[query]] for x in (by_place, query))
    found = np.bincount(query, minlength=num_queries)
    rank = np.arange(len(query)) - offsets_of(found)[query]
    return cited[by_place[rank < limit]], np.minimum(found, limit)


def _appended(kept: Ranking, rows: np.ndarray, counts: np.ndarray) -> Ranking:
    """Return a ranking with further papers behind those of each query.

    :param rows: further papers, one query after another; ``counts`` (Q,) of each.
    """
    lengths = (kept.rows >= 0).sum(axis=1)
    shape = (len(lengths), max(int((lengths + counts).max(initial=0)), kept.rows.shape[1]))
    all_rows, scores = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf)
    all_rows[:, : kept.rows.shape[1]] = kept.rows
    scores[:, : kept.rows.shape[1]] = kept.scores
    has = lengths > 0  # without documents there is nothing that they cite
    best, worst = np.zeros(shape[0]), np.zeros(shape[0])
    best[has], worst[has] = kept.scores[has, 0], kept.scores[has, lengths[has] - 1]
    step = np.where(best > worst, (best - worst) / np.maximum(lengths - 1, 1), 1.0)
    queries, behind = (
        np.repeat(np.arange(len(counts)), counts),
        ranges(np.ones_like(counts), counts),
    )
    places = queries, lengths[queries] + behind - 1
    all_rows[places] = rows
    scores[places] = worst[queries] - step[queries] * behind
    return Ranking(all_rows, scores)
