import numpy as np
import pytest
from scipy import sparse

from mpbert.retrieval import hybrid
from mpbert.retrieval.hybrid import HybridIndex

NONE = np.array([-1])


def random_matches(rng, rows, tokens=40):
    values = rng.uniform(0.1, 1, (rows, tokens)) * (rng.uniform(size=(rows, tokens)) < 0.2)
    return sparse.csr_array(values.astype(np.float32))


def by_definition(papers, weights, queries, asked, k, excluded):
    ranking = []
    for i, own in enumerate(excluded):
        scores = []
        for row, paper in enumerate(papers):
            lengths = np.linalg.norm(queries[i]) * np.linalg.norm(paper)
            score = queries[i] @ paper / lengths + asked[i] @ weights[row]
            if row != own:
                scores.append((-score, row))
        ranking.append([row for _, row in sorted(scores)[:k]])
    return ranking


@pytest.mark.parametrize("k", [10, 100])
def test_search_equals_the_slow_loop_whatever_the_blocks(k, monkeypatch):
    rng = np.random.default_rng(1)
    papers, queries = rng.standard_normal((60, 7)), rng.standard_normal((9, 7))
    weights, asked = random_matches(rng, 60), random_matches(rng, 9)
    excluded = np.array([0, 1, 2, 3, 4, 5, 6, 7, -1])
    index = HybridIndex(papers.astype(np.float32), weights)
    rows, scores = index.search(queries.astype(np.float32), asked, k, excluded)
    dense = [x.toarray().astype(np.float64) for x in (weights, asked)]
    expected = by_definition(papers, dense[0], queries, dense[1], min(k, 59), excluded)
    assert rows.tolist() == expected
    assert (np.diff(scores, axis=1) <= 0).all()
    monkeypatch.setattr(hybrid, "_BLOCK", 4)
    monkeypatch.setattr(hybrid, "_CONVERTED", 11)
    again = index.search(queries.astype(np.float32), asked, k, excluded)
    assert np.array_equal(again[0], rows)


def test_exact_matches_decide_where_cosines_are_equal():
    papers = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], dtype=np.float32)
    weights = sparse.csr_array(np.array([[0.0, 0.5], [0.0, 0.0], [0.0, 0.75]], dtype=np.float32))
    asked = sparse.csr_array(np.array([[1.0, 2.0]], dtype=np.float32))
    rows, scores = HybridIndex(papers, weights).search(papers[:1], asked, 3, NONE)
    assert rows.tolist() == [[2, 0, 1]]
    assert np.allclose(scores, [[2.5, 2, 1]])


def test_equal_papers_keep_their_order_whatever_is_searched_together():
    rng = np.random.default_rng(3)
    papers = rng.standard_normal((30, 64)).astype(np.float32)
    weights = random_matches(rng, 30)
    twice, both = np.repeat(papers, 2, axis=0), np.repeat(np.arange(30), 2)
    queries, asked = rng.standard_normal((40, 64)).astype(np.float32), random_matches(rng, 40)
    index, nobody = HybridIndex(twice, weights[both]), np.full(40, -1)
    rows, scores = index.search(queries, asked, 60, nobody)
    assert (scores[:, ::2] == scores[:, 1::2]).all()
    assert (rows[:, 1::2] == rows[:, ::2] + 1).all()
    for i in range(0, 40, 7):
        alone = index.search(queries[[i]], asked[[i]], 60, NONE)
        assert np.array_equal(alone[0][0], rows[i]) and np.array_equal(alone[1][0], scores[i])


def test_an_index_of_some_papers_finds_these_alone():
    rng = np.random.default_rng(2)
    papers = rng.standard_normal((30, 5)).astype(np.float32)
    weights = random_matches(rng, 30)
    some = np.arange(30) % 3 == 0
    index = HybridIndex(papers, weights).within(some)
    rows, _ = index.search(papers[:3], weights[:3], 50, np.array([0, 1, -1]))
    assert rows.shape == (3, 9)  # ten candidates, and one query's own paper is one of them
    assert np.isin(rows, np.flatnonzero(some)).all()
    assert 0 not in rows[0]
