from dataclasses import replace

import numpy as np
import pytest

from mpbert.corpus.records import UNKNOWN_YEAR
from mpbert.methods.citation_candidates.reranker import CitationCandidates, outgoing
from mpbert.methods.rankings import Ranking
from mpbert.methods.reranking import RERANKERS


def random_ranking(store, queries, k=30):
    scores = np.random.default_rng(1).random((len(queries), store.num_papers))
    scores[np.arange(len(queries)), queries.citing_rows] = -1
    rows = np.argsort(-scores, axis=1)[:, :k]
    return Ranking(rows, np.take_along_axis(scores, rows, axis=1))


def slow_candidates(store, queries, ranking, i, k, rest):
    """By definition, one query and one paper at a time."""
    year, own = queries.years[i], queries.citing_rows[i]
    ranked = [r for r in ranking.rows[i] if store.years[r] <= year]
    found = list(ranked[:k])
    cited = {}
    for citing, paper in zip(*store.citations(), strict=True):
        cited.setdefault(int(citing), []).append(int(paper))
    added = []
    for paper in ranked[:k]:
        if store.paper_splits[paper] == "train":
            added += [c for c in cited.get(int(paper), []) if c not in added and c != own]
    added = [c for c in added if store.years[c] <= year]
    return set(found) | set(added) | (set(ranked) if rest == "keep" else set()), added, ranked


@pytest.mark.parametrize("rest", ["drop", "keep"])
@pytest.mark.parametrize(("task", "split"), [("global", "test"), ("local", "valid")])
def test_candidates_are_those_of_slow_loops(store, task, split, rest):
    queries = store.queries(split, task)
    ranking = random_ranking(store, queries)
    found = CitationCandidates(k=4, rest=rest).rerank(store, queries, [ranking])
    for i in range(0, len(queries), max(len(queries) // 8, 1)):
        expected, added, ranked = slow_candidates(store, queries, ranking, i, 4, rest)
        rows = found.rows[i][found.rows[i] >= 0]
        assert set(rows.tolist()) == expected
        assert queries.citing_rows[i] not in rows
        new = [row for row in rows if row not in ranked]
        assert new == [row for row in added if row not in ranked]  # in order of who cites them
        assert rows[len(rows) - len(new) :].tolist() == new
        kept = [row for row in rows if row in ranked]
        assert kept == [row for row in ranked if row in expected]
    assert (np.diff(np.where(found.rows >= 0, found.scores, -9), axis=1) <= 0).all()


def test_a_query_of_unknown_year_has_the_candidates_of_the_last_year(store):
    queries = store.manuscripts("test")
    ranking = random_ranking(store, queries)
    found = [
        CitationCandidates(k=4)
        .rerank(store, replace(queries, years=np.full_like(queries.years, year)), [ranking])
        .rows.tolist()
        for year in (UNKNOWN_YEAR, store.years.max())
    ]
    assert found[0] == found[1] and max(map(max, found[0])) >= 0


def test_what_the_query_itself_cites_is_not_looked_at(store):
    queries = store.manuscripts("test")
    own = Ranking(queries.citing_rows[:, None].astype(np.int64), np.ones((len(queries), 1)))
    assert (outgoing(store, queries, own).rows < 0).all()


@pytest.mark.parametrize("split", ["valid", "test"])
def test_what_papers_of_other_splits_cite_is_not_known(store, split):
    test, others = store.manuscripts("test"), store.manuscripts(split)
    cites = np.diff(others.cited_offsets) > 0
    paper = others.citing_rows[cites][0]  # of the oldest that cites
    later = np.flatnonzero((test.years > store.years[paper]) & (test.citing_rows != paper))
    rows = np.full((len(test), 1), -1, dtype=np.int64)
    rows[later] = paper
    assert len(later) and (outgoing(store, test, Ranking(rows, np.ones(rows.shape))).rows < 0).all()


def test_a_query_without_papers_has_none(store):
    queries = store.manuscripts("valid")
    nothing = Ranking(np.full((len(queries), 2), -1), np.full((len(queries), 2), -np.inf))
    found = RERANKERS["citation_candidates"]().rerank(store, queries, [nothing])
    assert (found.rows < 0).all()
    assert (found.scores == -np.inf).all()


def test_vectors_score_what_the_ranking_lacks_beside_the_rest(store):
    queries = store.queries("test", "global")
    ranking = random_ranking(store, queries, k=6)
    every = random_ranking(store, queries, k=store.num_papers - 1)
    score = np.full((len(queries), store.num_papers), np.nan)
    np.put_along_axis(score, every.rows, every.scores, axis=1)
    reranker = CitationCandidates(k=4)
    plain = reranker.rerank(store, queries, [ranking])
    reranker.score_pairs = lambda asked, papers: score[asked, papers]
    found = reranker.rerank(store, queries, [ranking])
    has = found.rows >= 0
    assert np.array_equal(np.sort(found.rows, axis=1), np.sort(plain.rows, axis=1))
    assert not np.array_equal(found.rows, plain.rows)
    expected = np.take_along_axis(score, np.maximum(found.rows, 0), axis=1)
    assert np.array_equal(found.scores[has], expected[has])
    assert (np.diff(np.where(has, found.scores, -9), axis=1) <= 0).all()
